#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""diff.py PROGRAM SHARED [COUNT [SEED]]: compares the allocator model with the reference simulator.

Makes COUNT random traces, plays each through SHARED/facts/tools/allocator_sim.py and feeds traces
and answers to PROGRAM (diff.c); the event lists in SHARED/prototype/events follow, with the peak
and end of each phase that the framework had.  Exit status 77 (skip) where SHARED is absent.
"""
import glob
import gzip
import importlib.util
import json
import os
import random
import subprocess
import sys

K, M = 1 << 10, 1 << 20
LARGE_PAGE = 20 * M


def load(shared):
    path = os.path.join(shared, "facts", "tools", "allocator_sim.py")
    if not os.path.exists(path):
        print("skipped: no reference simulator in the shared folder")
        sys.exit(77)
    spec = importlib.util.spec_from_file_location("allocator_sim", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def aligned(sim):
    """The simulator with two details put right: an address range starts on a page boundary (it
    counts pages from address 0), and pages mapped by a request that fails in the end count for the
    peak."""

    class Aligned(sim.Torch):
        @property
        def top(self):
            return self._top

        @top.setter
        def top(self, value):
            self._top = -(-value // LARGE_PAGE) * LARGE_PAGE

        @property
        def reserved(self):
            return self._reserved

        @reserved.setter
        def reserved(self, value):
            self._reserved = value
            self.peak_res = max(getattr(self, "peak_res", 0), value)

    return Aligned


def size(rng, style):
    if style == "small":
        return rng.randrange(1, 2 * M)
    if style == "few":  # the same sizes again and again, as a network makes them
        return rng.choice([512, 4096, 700 * K, M, M + 1, 3 * M, 9 * M, 10 * M, 12 * M + 7, 40 * M,
                           100 * M])
    if style == "large":
        return rng.randrange(M, 200 * M)
    return rng.choice([rng.randrange(1, 4 * K), rng.randrange(1, 3 * M), rng.randrange(1, 30 * M),
                       rng.randrange(1, 300 * M), 1 << rng.randrange(0, 28)])


def options(rng):
    o = {}
    if rng.random() < 0.45:
        o["expandable"] = True
    if rng.random() < 0.4:
        o["total"] = rng.choice([40, 64, 120, 200, 333, 500, 1000]) * M
    if "expandable" not in o and rng.random() < 0.25:
        o["max_split"] = rng.choice([21, 32, 64, 128]) * M  # torch refuses 20 MiB and less
    if rng.random() < 0.2:
        o["pow2"] = rng.choice([2, 4, 8, 16])
    return o


def trace(rng, torch):
    o = options(rng)
    t = torch(**o)
    style = rng.choice(["small", "few", "large", "mixed"])
    streams = rng.choice([1, 1, 2, 3])
    free = rng.choice([0.3, 0.45, 0.5, 0.55])
    words, oom = [], "-"
    for i in range(rng.randrange(1, rng.choice([12, 60, 160]))):
        if t.live and rng.random() < free:
            name = rng.choice(list(t.live))
            words.append("-" + name)
            t.free(name)
            continue
        n, s = size(rng, style), rng.randrange(streams)
        name = "x%d" % i
        words.append("%s%s=%d" % (name, "@%d" % s if s else "", n))
        try:
            t.alloc(name, n, s)
        except MemoryError:
            oom = name
            break
    text = " ".join("%s=%d" % kv for kv in o.items())
    answer = (t.allocated, t.reserved, t.segs, t.peak_res, t.peak_alloc, t.retries, oom)
    return "T %s|%s|%d %d %d %d %d %d %s\n" % ((text, " ".join(words)) + answer)


def event_list(path):
    with open(path[:-len(".ev.gz")] + ".json") as f:
        phases = json.load(f)["phases"]
    rounded = max(p["peak_bytes_512"] for p in phases.values())
    out = ["E %s %d\n" % (os.path.basename(path), rounded)]
    number = {}
    with gzip.open(path, "rt") as f:
        for line in f:
            e = json.loads(line)
            if "phase" in e:
                p = phases[e["phase"]]
                out.append("P %d %d\n" % (p["peak_bytes"], p["end_bytes"]))
            elif "alloc" in e:
                number[e["alloc"]] = len(number)
                out.append("A %d\n" % e["bytes"])
            elif "free" in e:
                out.append("F %d\n" % number[e["free"]])
    return "".join(out) + ".\n"


def main():
    program, shared = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 2000
    rng = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    torch = aligned(load(shared))
    p = subprocess.Popen([program], stdin=subprocess.PIPE, text=True)
    try:
        for _ in range(count):
            p.stdin.write(trace(rng, torch))
        for path in sorted(glob.glob(os.path.join(shared, "prototype", "events", "*.ev.gz"))):
            p.stdin.write(event_list(path))
        p.stdin.close()
    except BrokenPipeError:
        pass
    sys.exit(p.wait())


main()
