#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare from outside: plans, models, reports, measurements.

    compares.py VRAMCAST
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

VRAMCAST = os.path.abspath(sys.argv.pop(1))
ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
LLAVA = "fixtures/configs/tiny-llava-1.5"
QWEN3 = "fixtures/configs/tiny-qwen3"


def run(*words):
    done = subprocess.run([VRAMCAST] + list(words), cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def figures(*words):
    code, out, err = run("compare", *words, "--format", "json")
    assert code in (0, 1, 4), err
    return code, {(f["kind"], f["name"]): f for f in json.loads(out)["figures"]}


class Compare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = folder.name

    def file(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def report(self, *words):
        return run("predict", *words, "--format", "json")[1]

    def test_two_plans(self):
        code, got = figures(LLAVA, "seq=64", "b:checkpointing=all", "a:micro_batch=2")
        self.assertEqual(code, 1)
        a = json.loads(self.report(LLAVA, "seq=64", "micro_batch=2"))
        b = json.loads(self.report(LLAVA, "seq=64", "checkpointing=all"))
        for meter in ("allocated", "reserved", "device"):
            f = got["meter", meter]
            self.assertEqual((f["a"], f["b"]), (a["peak"][meter]["expected"], b["peak"][meter]["expected"]))
            self.assertEqual(f["difference"], f["b"] - f["a"])
        factors = [f for (kind, _), f in got.items() if kind == "factor"]
        for side in "ab":
            self.assertEqual(sum(f[side] for f in factors), got["meter", "allocated"][side])

    def test_equal_is_0(self):
        self.assertEqual(figures(LLAVA, "seq=64")[0], 0)
        report = self.file("r.json", self.report(LLAVA, "seq=64"))
        code, got = figures(report, LLAVA, "seq=64")
        self.assertEqual(code, 0)
        self.assertTrue(all("difference" in f for f in got.values()))

    def test_settings_of_a_side_win(self):
        self.assertEqual(figures(LLAVA, "b:seq=64", "seq=32", "a:seq=64")[0], 0)

    def test_two_models(self):
        code, got = figures(LLAVA, QWEN3, "seq=64")
        self.assertEqual(code, 1)
        self.assertIn(("component", "vision parameters"), got)
        self.assertNotIn("b", got["component", "vision parameters"])

    def test_measurements(self):
        report = self.file("r.json", self.report(LLAVA, "seq=64"))
        flat = self.file("a.json", json.dumps({"allocated_bytes.all.peak": 7, "reserved_bytes.all.peak": 9}))
        deep = self.file("b.json", json.dumps({"allocated_bytes": {"all": {"peak": 7}}}))
        self.assertEqual(figures(report, flat)[1]["meter", "allocated"]["b"], 7)
        self.assertEqual(figures(report, flat)[1]["meter", "reserved"]["b"], 9)
        self.assertEqual(figures(report, deep)[1]["meter", "allocated"]["b"], 7)
        for text, most in (("time, memory.used [MiB]\nx, 5 MiB\nx, 9 MiB\n", 9 << 20), ("7 MiB\n6 MiB\n", 7 << 20),
                           ("index, memory.used [MiB], u\n0, 12, 99\n", 12 << 20)):
            smi = self.file("c.csv", text)
            self.assertEqual(figures(report, smi)[1]["meter", "device"]["b"], most, text)
        self.assertEqual(figures(flat, smi)[0], 4) # nothing in common

    def test_bad_input(self):
        for name, text in (("a.json", "{"), ("b.json", '{"a":1,"a":2}'), ("c.json", '{"schema":"vramcast.fit/1"}'),
                           ("e.csv", "nothing\n")):
            code, out, err = run("compare", self.file(name, text), LLAVA)
            self.assertEqual((code, out), (3, ""), name)
            self.assertEqual(err.count("\n"), 1)
        self.assertEqual(run("compare")[0], 2)
        self.assertEqual(run("compare", "x", "y", "z")[0], 2)
        self.assertEqual(run("compare", "no-such-thing")[0], 3)


if __name__ == "__main__":
    unittest.main()
