# SPDX-License-Identifier: Apache-2.0
"""compiled.py VRAMCAST: what compile=on keeps for backward, beside torch's min-cut partitioner.

The rule is no copy of the partitioner: it has to come within a fifth of its bytes, and below eager
code, whose peak is the upper bound of the answer.  compiled.json is written by make_compiled.py.
"""
import json
import os
import sys
import tempfile

from common import Command, finish

SAME = 0.2


def kept(command, config, plan, *more):
    """Bytes alive as backward begins, without parameters and inputs."""
    settings = ["%s=%s" % pair for pair in plan.items()]
    done = command.run("predict", config, "kernels_as=oracle", "steps=1", *settings, *more, "--dump=events")
    live = {}
    for line in done.stdout.splitlines():
        words = line.split()
        if words[0] == "phase" and words[1].endswith("backward"):
            return sum(live.values())
        if words[0] == "free":
            live.pop(words[1], None)
        elif words[0] == "alloc" and words[3] != "workspace" and words[5] != "load" and words[4:6] != ["-", "new"]:
            live[words[1]] = int(words[2])
    return 0


def main():
    command = Command(sys.argv[1])
    here = os.path.dirname(os.path.abspath(__file__))
    cases = json.load(open(os.path.join(here, "compiled.json")))
    right = 0
    with tempfile.TemporaryDirectory() as work:
        for case in cases:
            config = os.path.join(work, "config.json")
            json.dump(case["config"], open(config, "w"))
            ours = kept(command, config, case["plan"], "compile=on")
            eager = kept(command, config, case["plan"])
            both = [command.report(config, *["%s=%s" % pair for pair in case["plan"].items()], *more)[0]["peak"]["allocated"]
                    for more in (["compile=on"], [])]
            bounded = both[0]["expected"] < both[1]["expected"] and both[0]["high"] == both[1]["high"]
            near = bounded and abs(ours / case["bytes"] - 1) <= SAME and ours < eager
            right += near
            if not near or "--table" in sys.argv:
                print("%-8s partitioner %d, ours %d (%+.1f %%), eager %d" % (
                    case["config"]["model_type"], case["bytes"], ours, 100 * (ours / case["bytes"] - 1), eager))
    finish("compiled models that keep what the partitioner keeps, within a fifth", right, len(cases))


if __name__ == "__main__":
    main()
