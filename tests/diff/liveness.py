#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The inference peak of ONNX graphs against golden/liveness.jsonl, with outputs that share storage and without.

    liveness.py VRAMCAST [--all]      --all: names every model
"""
import json
import os
import subprocess
import sys

from common import shared


def peak(vramcast, record, views):
    words = ["input.%s=%s" % (name, "x".join(map(str, dims)) or "scalar") for name, dims in record["inputs"].items()]
    words += ["dim.%s=%d" % (name, n) for name, n in record["bindings"].items() if not name.startswith("?")]
    done = subprocess.run([vramcast, "predict", shared(record["model"]), "--format", "json",
                           "allocator=exact", "onnx.views=" + ("on" if views else "off")] + words,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        return None, done.stderr.strip() or "exit code %d" % done.returncode
    report = json.loads(done.stdout)
    return report["peak"]["allocated"]["expected"], ""


def main():
    vramcast, chatty = os.path.abspath(sys.argv[1]), "--all" in sys.argv[2:]
    right = wrong = 0
    with open(shared("golden", "liveness.jsonl"), encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            for key, views in (("plain", False), ("views", True)):
                got, why = peak(vramcast, record, views)
                good = got == record[key]["peak"]
                right += good
                wrong += not good
                if chatty or not good:
                    print("%s %s %s: %s, should be %d%s" % ("ok" if good else "WRONG", record["model"], key, got,
                                                            record[key]["peak"], " (%s)" % why if why else ""))
    print("liveness: %d of %d equal" % (right, right + wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
