#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what the command prints with the files beside this script, or rewrites them.

    golden.py VRAMCAST [--update]

Cases stand in cases.txt; NAME.out holds the bytes of standard output.  A case passes when its exit
code is 0 and its bytes are equal.
"""
import difflib
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PASSES = ["config", "tree", "program", "plan", "events", "replay"]
SHOWN = 40  # lines of a difference


def cases():
    with open(os.path.join(HERE, "cases.txt"), encoding="ascii") as lines:
        for line in lines:
            line = line.split("#")[0].strip()
            if not line:
                continue
            name, words = line.split(":", 1)
            if not name.startswith("@"):
                yield name, words.split()
                continue
            for one in PASSES:
                yield "%s-%s" % (name[1:], one), words.split() + ["--dump", one]


def run(vramcast, words):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG"))}
    done = subprocess.run([vramcast] + words, cwd=ROOT, env=env, capture_output=True, check=False)
    return done.stdout, done.stderr, done.returncode


def difference(name, old, new):
    lines = difflib.unified_diff(old.decode("utf-8", "replace").splitlines(),
                                 new.decode("utf-8", "replace").splitlines(),
                                 name + ".out", "now", lineterm="")
    for number, line in enumerate(lines):
        if number == SHOWN:
            print("...")
            return
        print(line)


def main():
    vramcast, update = os.path.abspath(sys.argv[1]), "--update" in sys.argv[2:]
    bad, names = 0, set()
    for name, words in cases():
        out, err, code = run(vramcast, words)
        path = os.path.join(HERE, name + ".out")
        names.add(name + ".out")
        old = open(path, "rb").read() if os.path.exists(path) else b""
        if code:
            bad += 1
            print("FAIL %s: exit code %d: %s" % (name, code, err.decode("utf-8", "replace")))
        elif update and out != old:
            with open(path, "wb") as file:
                file.write(out)
            print("wrote %s.out" % name)
        elif out != old:
            bad += 1
            print("FAIL %s" % name)
            difference(name, old, out)
    for extra in sorted(set(f for f in os.listdir(HERE) if f.endswith(".out")) - names):
        if update:
            os.unlink(os.path.join(HERE, extra))
            print("removed %s" % extra)
        else:
            bad += 1
            print("FAIL %s: no case is called so" % extra)
    print("%d cases, %d bad" % (len(names), bad))
    return bad > 0


sys.exit(main())
