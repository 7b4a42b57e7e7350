# SPDX-License-Identifier: Apache-2.0
"""events.py VRAMCAST: allocation by allocation against the real framework, in order.

Every allocation must have the reference's bytes, at its place; deaths between two allocations are
compared as a set, since their order there changes nothing.  Library workspaces and changes of
category are ours alone and left out.  Adafactor's lists may differ by the reference driver's own
4-byte scalars.
"""
import collections
import glob
import gzip
import json
import os
import sys

from common import Command, finish, settings, shared

TINY = """tiny-llava-1.5 tiny-paligemma tiny-llama tiny-qwen3 tiny-vit tiny-qwen2.5-vl tiny-internvl3
tiny-smolvlm tiny-gemma3 tiny-gemma2 tiny-gpt2 tiny-opt tiny-falcon tiny-mixtral tiny-bert tiny-t5""".split()


def cases():
    for path in sorted(glob.glob(shared("prototype", "events") + "/*.json")):
        yield (shared("golden", "train", "tiny-llava-1.5", "config.json"), path,
               path[:-5] + ".ev.gz")
    for family in TINY:
        base = shared("golden", "train", family)
        for path in sorted(glob.glob(base + "/*.events.jsonl.gz")):
            yield base + "/config.json", path[:-16] + ".json", path


def reference(path):
    for line in gzip.open(path, "rt"):
        event = json.loads(line)
        if "phase" in event:
            yield "phase", event["phase"]
        elif "alloc" in event:
            yield "alloc", event["alloc"], event["bytes"]
        else:
            yield "free", event["free"]


def ours(text):
    skipped = set()
    for line in text.splitlines():
        words = line.split()
        if words[0] == "phase":
            yield "phase", words[1]
        elif words[0] == "alloc":
            # constants of packed matrices are no parameters: the reference does not list them
            if words[3] == "workspace" or any(".quant_state." in w for w in words[5:]):
                skipped.add(words[1])
            else:
                yield "alloc", words[1], int(words[2])
        elif words[0] == "free" and words[1] not in skipped:
            yield "free", words[1]


def in_order(events):
    """Storages named by the order in which they are made; each run of frees sorted."""
    number, run = {}, []
    for event in events:
        if event[0] == "free":
            run.append(number[event[1]])
            continue
        yield from (("free", i) for i in sorted(run))
        run = []
        if event[0] == "alloc":
            number[event[1]] = len(number)
            yield "alloc", number[event[1]], event[2]
        else:
            yield event
    yield from (("free", i) for i in sorted(run))


def without_scalars(events):
    """The list without what only 4-byte storages do, and storages renumbered."""
    small = {e[1] for e in events if e[0] == "alloc" and e[2] == 4}
    return list(in_order(e for e in events if e[0] == "phase" or e[1] not in small))


def scalars(events):
    return collections.Counter(e[2] for e in events if e[0] == "alloc")[4]


def first_difference(a, b):
    for i, (x, y) in enumerate(zip(a, b)):
        if x != y:
            return "event %d: %s, the reference has %s" % (i, x, y)
    return "" if len(a) == len(b) else "%d events, the reference has %d" % (len(a), len(b))


def compare_events(command, config, plan, path, *more):
    """What differs first, or ""."""
    done = command.run("predict", config, *settings(plan), "--dump=events", *more)
    a, b = list(in_order(ours(done.stdout))), list(in_order(reference(path)))
    said = done.stderr.strip() if done.returncode else first_difference(a, b)
    if said and plan["optimizer"] == "adafactor" and abs(scalars(a) - scalars(b)) <= 1:
        said = first_difference(without_scalars(a), without_scalars(b))
    return said


def main():
    command = Command(sys.argv[1])
    right = total = 0
    for config, result, path in cases():
        said = compare_events(command, config, json.load(open(result))["plan"], path)
        total += 1
        right += not said
        name = os.path.basename(path).split(".")[0]
        if said:
            print(os.path.basename(os.path.dirname(config)), name, said)
    finish("event lists equal in order", right, total)


if __name__ == "__main__":
    main()
