#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check and fit from outside: exit codes, limits on both sides, savings as differences.

    fits.py VRAMCAST
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

VRAMCAST = os.path.abspath(sys.argv.pop(1))
ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
LLAVA = "fixtures/checkpoints/llava-1.5-7b-hf"
PLAN = ["seq=2048", "strategy=zero2", "gpus=8"]


def run(*words):
    done = subprocess.run([VRAMCAST] + list(words), cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def predict(path, gpu, *words):
    code, out, err = run("predict", path, "gpu=" + gpu, "--format", "json", *words)
    assert code == 0, err
    return json.loads(out)


class Check(unittest.TestCase):
    def test_exit_codes(self):
        self.assertEqual(run("check", LLAVA, *PLAN, "gpu=b200-180g")[0], 0)
        self.assertEqual(run("check", LLAVA, *PLAN, "gpu=rtx4090")[0], 1)
        self.assertEqual(run("check", LLAVA, *PLAN)[0], 2)
        self.assertEqual(run("check", LLAVA, *PLAN, "gpu=no-such-card")[0], 2)
        self.assertEqual(run("check", "no-such-model", "gpu=rtx4090")[0], 3)
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "config.json"), "w", encoding="ascii") as f:
                f.write('{"model_type": "nobody-knows-this"}')
            code, out, _ = run("check", folder, "gpu=rtx4090,a100-80g")
            self.assertEqual(code, 4)
            self.assertEqual(out.count("cannot-tell"), 2)

    def test_one_card_that_is_too_small_decides(self):
        code, out, _ = run("check", LLAVA, *PLAN, "gpu=b200-180g,rtx4090", "--format", "json")
        self.assertEqual(code, 1)
        report = json.loads(out)
        self.assertEqual([g["passes"] for g in report["gpus"]], [True, False])
        self.assertFalse(report["passes"])

    def test_tight_passes_unless_certain(self):
        _, out, _ = run("fit", LLAVA, "seq=2048", "strategy=zero3", "gpu=rtx4090", "--min", "gpus",
                        "--format", "json")
        limit = json.loads(out)["limits"][0]
        self.assertEqual(limit["at"]["result"], "tight") # the fewest cards leave no room
        words = [LLAVA, "seq=2048", "strategy=zero3", "gpu=rtx4090", "gpus=%d" % limit["value"]]
        self.assertEqual(run("check", *words)[0], 0)
        self.assertEqual(run("check", *words, "--require", "certain")[0], 1)

    def test_advice_is_what_it_says(self):
        code, out, _ = run("check", LLAVA, "seq=2048", "micro_batch=8", "gpu=a100-80g", "--format", "json")
        self.assertEqual(code, 1)
        gpu = json.loads(out)["gpus"][0]
        self.assertTrue(gpu["advice"])
        for advice in gpu["advice"]:
            words = dict([("seq", "2048"), ("micro_batch", "8")] + list(advice["changes"].items()))
            after = predict(LLAVA, "a100-80g", *("%s=%s" % w for w in words.items()))
            self.assertEqual(after["peak"]["device"]["expected"], advice["device"])
            self.assertEqual(gpu["device"]["expected"] - advice["device"], advice["saves"])
            self.assertIn(after["verdict"]["result"], ("fits", "tight"))
            self.assertTrue(all(advice["price"]))

    def test_forms(self):
        words = ["check", LLAVA, *PLAN, "gpu=b200-180g,rtx4090", "--format"]
        suite = xml.dom.minidom.parseString(run(*words, "junit")[1]).documentElement
        self.assertEqual((suite.getAttribute("tests"), suite.getAttribute("failures")), ("2", "1"))
        sarif = json.loads(run(*words, "sarif")[1])
        self.assertEqual([r["level"] for r in sarif["runs"][0]["results"]], ["note", "error"])
        lines = run(*words, "github")[1].splitlines()
        self.assertTrue(lines[0].startswith("::notice ") and lines[1].startswith("::error "))


class Fit(unittest.TestCase):
    def limit(self, *words):
        code, out, err = run("fit", *words, "--format", "json")
        self.assertIn(code, (0, 1), err)
        return code, json.loads(out)["limits"][0]

    def both_sides(self, key, gpu, words, require=()):
        good = ("fits",) if require else ("fits", "tight")
        code, limit = self.limit(LLAVA, *words, "gpu=" + gpu, "--max", key, *require)
        self.assertEqual(code, 0)
        at = predict(LLAVA, gpu, *words, "%s=%d" % (key, limit["value"]))
        beyond = predict(LLAVA, gpu, *words, "%s=%d" % (key, limit["next"]))
        self.assertIn(at["verdict"]["result"], good)
        self.assertNotIn(beyond["verdict"]["result"], good)
        self.assertEqual(limit["next"], limit["value"] + 1)

    def test_limits_hold_on_both_sides(self):
        self.both_sides("micro_batch", "a100-80g", PLAN)
        self.both_sides("micro_batch", "a100-80g", PLAN, ("--require", "certain"))
        self.both_sides("seq", "a100-80g", ["strategy=zero2", "gpus=8"])
        self.both_sides("lora.rank", "a100-40g", ["train=lora", "seq=1024", "checkpointing=all"])

    def test_fewest_cards(self):
        code, limit = self.limit(LLAVA, "seq=2048", "strategy=zero3", "gpu=a100-40g", "--min", "gpus",
                                 "checkpointing=all")
        self.assertEqual((code, limit["kind"]), (0, "min"))
        self.assertEqual(limit["next"], limit["value"] - 1)

    def test_nothing_fits(self):
        code, limit = self.limit(LLAVA, "seq=2048", "gpu=rtx4090")
        self.assertEqual((code, limit["found"]), (1, False))

    def test_global_batch_is_kept(self):
        code, limit = self.limit(LLAVA, *PLAN, "gpu=h200-141g", "--global-batch", "48")
        self.assertEqual(code, 0)
        self.assertEqual(48 % (8 * limit["value"]), 0)

    def test_cards_hold_it(self):
        code, out, _ = run("fit", LLAVA, "mode=infer", "--cards", "--format", "json")
        self.assertEqual(code, 0)
        cards = json.loads(out)["cards"]
        capacities = [c["at"]["capacity"] for c in cards]
        self.assertEqual(capacities, sorted(capacities))
        self.assertTrue(all(c["at"]["result"] in ("fits", "tight") for c in cards))

    def test_advice_is_ranked_and_exact(self):
        words = ["micro_batch=2", "seq=1024", "strategy=zero2", "gpus=4"]
        _, out, _ = run("fit", LLAVA, *words, "gpu=a100-40g", "--advice", "--format", "json")
        advice = json.loads(out)["advice"]
        saves = [a["saves"] for a in advice]
        self.assertEqual(saves, sorted(saves, reverse=True))
        before = predict(LLAVA, "a100-40g", *words)["peak"]["device"]["expected"]
        for a in advice[:6] + advice[-6:]:
            changed = dict([w.split("=") for w in words] + list(a["changes"].items()))
            after = predict(LLAVA, "a100-40g", *("%s=%s" % w for w in changed.items()))
            self.assertEqual(before - after["peak"]["device"]["expected"], a["saves"])

    def test_a_symbol_of_a_graph(self):
        graph = ('<ir_version: 8, opset_import: ["" : 17]> g (float[batch, 1024, 1024] x) => (float[b, c, d] y) '
                 '{ y = Relu(x) }')
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "g.onnxtxt")
            with open(path, "w", encoding="ascii") as f:
                f.write(graph)
            code, limit = self.limit(path, "gpu=rtx4090", "--max", "dim.batch", "allocator=exact")
        self.assertEqual((code, limit["key"]), (0, "dim.batch"))
        self.assertGreater(limit["value"], 2000) # two tensors of 4 MiB each a piece of the batch
        self.assertLess(limit["value"], 3100)
        self.assertEqual(limit["next"], limit["value"] + 1)

    def test_usage(self):
        for words in (["--max", "bogus"], ["--min", "seq"], ["--max", "seq", "--min", "gpus"],
                      ["--global-batch", "0"], ["--global-batch", "8", "--max", "seq"],
                      ["--require", "maybe"]):
            self.assertEqual(run("fit", LLAVA, "gpu=rtx4090", *words)[0], 2, words)
        self.assertEqual(run("fit", LLAVA)[0], 2)


if __name__ == "__main__":
    unittest.main()
