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
    """(low, high), or None where the peak is said to be unknown; and what was said."""
    words = ["input.%s=%s" % (name, "x".join(map(str, dims)) or "scalar") for name, dims in record["inputs"].items()]
    words += ["dim.%s=%d" % (name, n) for name, n in record["bindings"].items() if not name.startswith("?")]
    done = subprocess.run([vramcast, "predict", shared(record["model"]), "--format", "json",
                           "allocator=exact", "onnx.views=" + ("on" if views else "off")] + words,
                          capture_output=True, text=True, check=False)
    if done.returncode == 4:
        return None, "said to be unknown"
    if done.returncode:
        return (0, 0), done.stderr.strip()
    allocated = json.loads(done.stdout)["peak"]["allocated"]
    return (allocated["low"], allocated["high"]), ""


def main():
    vramcast, chatty = os.path.abspath(sys.argv[1]), "--all" in sys.argv[2:]
    count = {"equal": 0, "open": 0, "WRONG": 0} # open: values of the inputs decide, and the answer says so
    with open(shared("golden", "liveness.jsonl"), encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            for key, views in (("plain", False), ("views", True)):
                got, why = peak(vramcast, record, views)
                want = record[key]["peak"]
                how = "open" if got is None else "equal" if got == (want, want) else \
                    "open" if got[0] < got[1] and got[0] <= want <= got[1] else "WRONG"
                count[how] += 1
                if chatty or how != "equal":
                    print("%s %s %s: %s, should be %d%s" % (how, record["model"], key, got, want,
                                                            " (%s)" % why if why else ""))
    print("liveness: %d of %d equal, %d open, %d wrong" % (count["equal"], sum(count.values()), count["open"],
                                                           count["WRONG"]))
    return 1 if count["WRONG"] or count["open"] * 20 > count["equal"] else 0


if __name__ == "__main__":
    sys.exit(main())
