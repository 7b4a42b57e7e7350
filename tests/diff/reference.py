# SPDX-License-Identifier: Apache-2.0
"""reference.py VRAMCAST [FOLDER]: random plans, event by event, as the real framework ran them.

FOLDER defaults to reference/ beside this file, so that this suite needs nothing else;
make_reference.py makes more.
"""
import glob
import gzip
import json
import os
import sys
import tempfile

from common import Command, finish, settings
from events import first_difference, in_order, ours, scalars, without_scalars


def reference(path):
    made = 0
    for line in gzip.open(path, "rt"):
        kind, value = line.split()
        if kind == "p":
            yield "phase", value
        elif kind == "a":
            yield "alloc", made, int(value)
            made += 1
        else:
            yield "free", int(value)


def without_small(events, least):
    """generate() looks at its tokens in single values and in tables of bool, which are not followed."""
    number = {}
    for event in events:
        if event[0] == "alloc" and event[2] >= least:
            number[event[1]] = len(number)
            yield "alloc", number[event[1]], event[2]
        elif event[0] == "free" and event[1] in number:
            yield "free", number[event[1]]
        elif event[0] == "phase" and event[1] != "loss":
            yield event


def without_loss(events):
    return (event for event in events if event[0] != "phase" or not event[1].endswith("loss"))


def difference(command, case, events, work, *more):
    config = os.path.join(work, "config.json")
    json.dump(case["config"], open(config, "w"))
    done = command.run("predict", config, *settings(case["plan"]), "--dump=events", *more)
    if done.returncode:
        return done.stderr.strip()
    a, b = ours(done.stdout), reference(events)
    if case["plan"].get("new_tokens"):
        # least: bytes a token below which nothing is compared; the oracle hands over positions that generate() makes
        least = case.get("least", 2) * case["plan"]["micro_batch"] * case["plan"]["seq_len"]
        a, b = without_small(a, least), without_small(b, least)
    if case["plan"].get("kernels"):  # the reference knows the loss by the head's call, which is not made
        a, b = without_loss(a), without_loss(b)
    a, b = list(in_order(a)), list(in_order(b))
    said = first_difference(a, b)
    loop = abs(scalars(a) - scalars(b)) <= case["plan"]["steps"]
    if said and case["plan"]["optimizer"] == "adafactor" and loop:
        said = first_difference(without_scalars(a), without_scalars(b))
    return said


def compare(command, folder, *more):
    """How many of a folder's runs are repeated, of how many."""
    right = total = 0
    with tempfile.TemporaryDirectory() as work:
        for path in sorted(glob.glob(folder + "/*.json")):
            events = path[:-5] + ".events.gz"
            if not os.path.exists(events):
                continue
            case = json.load(open(path))
            said = difference(command, case, events, work, *more)
            total += 1
            right += not said
            if said:
                print(os.path.basename(path)[:-5], said, json.dumps(case["plan"]))
    return right, total


def main():
    command = Command(sys.argv[1])
    folder = sys.argv[2] if len(sys.argv) > 2 else os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "reference")
    right, total = compare(command, folder)
    finish("random plans equal event by event", right, total)


if __name__ == "__main__":
    main()
