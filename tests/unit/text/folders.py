# SPDX-License-Identifier: Apache-2.0
"""folders.py ROOT VRAMCAST: what the command says about folders of templates: one line, exit 3.  And what
--dump=program prints, given back as a folder, runs as the built-in templates do."""
import os
import subprocess
import sys
import tempfile

GOOD = "family toy: Toy\nmodule Toy(x):\n  param w[config.n]\n  return x\n"
CASES = [  # files of the folder, what is said ("DIR" is the folder)
    (None, "DIR: the templates' folder cannot be read: it is not there"),
    ("a file", "DIR: the templates' folder cannot be read: it is no folder"),
    ({}, "DIR: the templates' folder has no .vt file"),
    ({"a.txt": GOOD}, "DIR: the templates' folder has no .vt file"),
    ({"a.vt/b": GOOD}, "DIR/a.vt: not a regular file of at most 4194304 bytes"),
    ({"a.vt": "#" * 4194305}, "DIR/a.vt: not a regular file of at most 4194304 bytes"),
    ({"a.vt": GOOD + "module B(x) return x\n"},
     "DIR/a.vt: line 5, column 13: expected ':' (offset 74)"),
    ({"a.vt": GOOD, "b.vt": GOOD}, "DIR/b.vt: line 1, column 1: 'toy' is defined twice; first in line 1 of "
     "DIR/a.vt (offset 0)"),
    ({"a.vt": GOOD.replace("config.n", "config.m")},
     "DIR/a.vt: line 3, column 17: 'w' has a size that is none: does config.json say it?"),
    ({"a.vt": GOOD.replace("return x", "return y(x)")}, "DIR/a.vt: line 4, column 10: nothing is called 'y'"),
    ({"a.vt": GOOD.replace("config.n", "config.n, setting(nothing)")},
     "DIR/a.vt: line 3, column 29: there is no setting 'nothing' (offset 59)"),
    ({"a.vt": GOOD, ".hidden.vt": "nonsense"}, None),
    ({"a.vt": GOOD.rstrip("\n")}, None),
    ({"a.vt": GOOD.replace("\n", "\r\n")}, None),
]


def say(command, work, number, files):
    folder = os.path.join(work, str(number))
    if files == "a file":
        with open(folder, "w") as f:
            f.write(GOOD)
        files = None
    for name, text in (files or {}).items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", newline="") as f:
            f.write(text)
    if files == {}:
        os.makedirs(folder)
    done = subprocess.run([command, "inspect", os.path.join(work, "config.json"), "--templates", folder],
                          capture_output=True, text=True)
    return done.returncode, done.stderr.replace(folder, "DIR")


def given_back(command, work, config):
    """Are the events those of the built-in templates?"""
    folder = os.path.join(work, "printed")
    os.makedirs(folder, exist_ok=True)

    def dump(what, *more):
        done = subprocess.run([command, "predict", config, "seq=64", "--dump", what, *more],
                              capture_output=True, text=True)
        return done.stdout if done.returncode == 0 else done.stderr

    with open(os.path.join(folder, "all.vt"), "w") as f:
        f.write(dump("program"))
    events = dump("events")
    return len(events) > 10000 and events == dump("events", "--templates", folder)


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as work:
        with open(os.path.join(work, "config.json"), "w") as f:
            f.write('{"model_type": "toy", "n": 3}')
        for number, (files, want) in enumerate(CASES):
            code, said = say(sys.argv[2], work, number, files)
            expected = (3, "vramcast: %s\n" % want) if want else (0, "")
            if (code, said) != expected:
                wrong.append("%d: exit %d, %sexpected: %s" % (number, code, said, want))
        configs = os.path.join(sys.argv[1], "fixtures", "configs")
        for name in sorted(os.listdir(configs)):
            if not given_back(sys.argv[2], work, os.path.join(configs, name)):
                wrong.append(name + ": its printed templates do not run as the built-in ones do")
    print("\n".join(wrong) or "%d folders" % len(CASES))
    sys.exit(1 if wrong else 0)


main()
