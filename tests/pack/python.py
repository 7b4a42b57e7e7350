#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The package vramcast says what the command says; errors, threads, scanning, the Trainer's guard.

    python.py BUILD_DIR       from the sources, with the library of a build
    python.py                 as installed

The guard is also tried in a real Trainer where this Python, or the one that VRAM_TORCH_PYTHON names, has one.
"""
import concurrent.futures
import gc
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
import types
import unittest
import warnings

from common import CONFIGS, LLAVA, ROOT, Case, must, package, skip

if importlib.util.find_spec("cffi") is None:
    skip("this Python has no cffi")
if len(sys.argv) > 1 and os.path.isdir(sys.argv[1]):
    FOLDER = tempfile.TemporaryDirectory()
    os.environ.update(package(os.path.abspath(sys.argv.pop(1)), FOLDER.name))
    sys.path.insert(0, FOLDER.name)

import vramcast  # noqa: E402
from vramcast.trainer import MemoryGuard, WillNotFit, plan_of  # noqa: E402

TINY = os.path.join(CONFIGS, "tiny-llava-1.5")
CONFIG_7B = os.path.join(LLAVA, "config.json")
PLAN = {"micro_batch": 2, "seq": 64, "train.vision": "frozen", "padded": True}
WORDS = ["micro_batch=2", "seq=64", "train.vision=frozen", "padded=on"]


def say(*words):
    return must(vramcast.command(), *words)


class Reports(Case):
    def test_a_report_is_that_of_the_command(self):
        report = vramcast.predict(TINY, dict(PLAN, gpu="rtx4090"))
        shown = json.loads(say("predict", TINY, *WORDS, "gpu=rtx4090", "-f", "json"))
        self.assertEqual(report.to_dict(), shown)
        peak = shown["peak"]
        for meter in ("allocated", "reserved", "device"):
            self.assertEqual(vars(getattr(report, meter)), peak[meter])
        self.assertEqual((report.peak_phase, report.peak_owner), (peak["phase"], peak["owner"]))
        self.assertEqual(report.factors, shown["factors"])
        self.assertEqual(sum(report.factors.values()), report.allocated.expected)
        self.assertEqual([(p.name, p.peak, p.end) for p in report.phases],
                         [(p["name"], p["peak"], p["end"]) for p in shown["phases"]])
        self.assertEqual([(c.name, c.parameters, c.gradients, c.optimizer, c.activations, c.saved)
                          for c in report.components],
                         [(c["name"], c["parameters"]["bytes"], c["gradients"], c["optimizer"], c["activations"],
                           c["saved"]) for c in shown["components"]])
        self.assertEqual([(f.id, f.severity_name, f.subject, f.text) for f in report.findings],
                         [(f["id"], f["severity"], f["subject"], f["text"]) for f in shown["findings"]])
        self.assertEqual({s.key: (s.value, s.origin) for s in report.settings},
                         {k: (s["value"], s["origin"]) for k, s in shown["plan"].items()})
        self.assertEqual((report.verdict, report.gpu_capacity), ("fits", shown["verdict"]["capacity"]))
        at_peak = sum(s.bytes for s in report.storages() if s.at_peak)
        self.assertEqual(at_peak, report.allocated.expected - report.factors["rounding"])
        self.assertIn("GiB", repr(report))

    def test_a_report_outlives_the_name_of_its_model(self):
        report = vramcast.Model(TINY).predict(PLAN)
        gc.collect()
        self.assertEqual(report.to_dict(), vramcast.predict(TINY, PLAN).to_dict())

    def test_threads_share_a_model(self):
        model = vramcast.Model(CONFIG_7B)
        lengths = [128 * n for n in range(1, 17)]

        def peak(seq):
            return model.predict({"seq": seq}).allocated.expected

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertEqual(list(pool.map(peak, lengths)), [peak(n) for n in lengths])

    def test_an_unknown_architecture_has_no_peak(self):
        path = os.path.dirname(self.path("odd/config.json", json.dumps({"model_type": "odd", "architectures": ["Odd"]})))
        report = vramcast.predict(path, {"gpu": "a100-80g"})
        self.assertFalse(report.peak_known)
        self.assertEqual(report.verdict, "cannot-tell")
        self.assertFalse(vramcast.check(path, "a100-80g"))

    def test_a_model_is_that_of_inspect(self):
        model = vramcast.Model(TINY)
        shown = json.loads(say("inspect", TINY, "-t", "-c", "-f", "json"))
        self.assertEqual([m.path for m in model.modules()], [m["path"] for m in shown["modules"]])
        self.assertEqual(model.modules_count, len(shown["modules"]))
        self.assertEqual([c.name for c in model.components], [c["name"] for c in shown["components"]])
        self.assertEqual([list(t.shape) for t in model.tensors()], [t["shape"] for t in shown["tensors"]])
        self.assertEqual([(c.key, c.origin) for c in model.config], [(c["key"], c["origin"]) for c in shown["config"]])
        self.assertEqual([f.id for f in model.findings], [f["id"] for f in shown["findings"]])


class Plans(Case):
    def test_values_are_set_and_copied(self):
        plan = vramcast.Plan(dict(PLAN, **{"lora.targets": ["q", "v"], "train": "lora"}))
        other = plan.copy()
        other.set("micro_batch", 4)
        self.assertEqual((plan.get("micro_batch"), other.get("micro_batch")), ("2", "4"))
        self.assertEqual((plan.get("padded"), plan.get("lora.targets"), plan.get("optimizer")), ("on", "q,v", None))
        self.assertEqual(set(plan.given()), {"micro_batch", "seq", "train", "train.vision", "padded", "lora.targets"})

    def test_settings_files_give_way_to_values(self):
        path = self.path("args.json", json.dumps({"per_device_train_batch_size": 4, "gradient_accumulation_steps": 8,
                                                  "output_dir": "out", "learning_rate": 1e-5}))
        plan = vramcast.Plan({"accumulation": 2}, settings=[path])
        self.assertEqual((plan.get("micro_batch"), plan.get("accumulation")), ("4", "2"))
        self.assertTrue(plan.by("micro_batch").startswith(path + ":") and plan.by("accumulation") is None)
        report = vramcast.predict(TINY, plan, settings=[])
        self.assertEqual({s.key: s.by for s in report.settings}["micro_batch"], plan.by("micro_batch"))

    def test_errors_say_what_and_where(self):
        for code, text, make in (
                ("notfound", "micro_bach", lambda: vramcast.Plan({"micro_bach": 2})),
                ("range", "micro_batch", lambda: vramcast.Plan({"micro_batch": 0})),
                ("notfound", "none", lambda: vramcast.Model(self.path("none"))),
                ("format", "config.json", lambda: vramcast.Model(self.path("config.json", "{\"a\": }")))):
            with self.subTest(code=code), self.assertRaises(vramcast.VramError) as caught:
                make()
            self.assertEqual(caught.exception.code, code)
            self.assertIn(text, str(caught.exception))
        self.assertEqual(caught.exception.offset, 6)
        plan = vramcast.Plan({"seq": 64})
        with self.assertRaises(vramcast.VramError):
            plan.update({"micro_batch": 4, "precision": "half"})
        self.assertIsNone(plan.get("micro_batch"))  # all or none


class Preflight(Case):
    def test_check_is_that_of_the_command(self):
        for seq, require in ((512, "likely"), (4096, "likely"), (512, "certain")):
            found = vramcast.check(CONFIG_7B, ["a100-80g", "rtx4090-24g"], {"seq": seq}, require=require)
            done = subprocess.run([vramcast.command(), "check", CONFIG_7B, "gpu=a100-80g,rtx4090-24g", "seq=%d" % seq,
                                   "--require", require, "-f", "json"], capture_output=True, text=True, check=False)
            shown = json.loads(done.stdout)
            self.assertEqual([(v.gpu, v.result, v.passes, vars(v.device), v.capacity) for v in found.verdicts],
                             [(g["gpu"], g["result"], g["passes"], g["device"], g["capacity"]) for g in shown["gpus"]])
            self.assertEqual(found.passes, done.returncode == 0)
        with self.assertRaises(ValueError):
            vramcast.check(TINY, "a100-80g", require="maybe")

    def test_fit_is_the_last_that_passes(self):
        limit, = vramcast.fit(CONFIG_7B, "a100-80g", {"seq": 1024})
        self.assertTrue(limit["found"])
        for value, passes in ((limit["value"], True), (limit["next"], False)):
            self.assertEqual(bool(vramcast.check(CONFIG_7B, "a100-80g", {"seq": 1024, "micro_batch": value})), passes)

    def test_advice_saves_what_it_says(self):
        plan = {"seq": 2048, "micro_batch": 8}
        best = vramcast.advise(CONFIG_7B, "a100-80g", plan)[0]
        before = vramcast.predict(CONFIG_7B, dict(plan, gpu="a100-80g")).device.expected
        after = vramcast.predict(CONFIG_7B, dict(plan, gpu="a100-80g", **best["changes"])).device.expected
        self.assertEqual((best["saves"], best["device"]), (before - after, after))
        self.assertTrue(best["price"])


class Scans(Case):
    def test_rows_of_a_tree_and_of_a_list(self):
        names = sorted(os.listdir(CONFIGS))
        rows = list(vramcast.scan(CONFIGS, {"seq": 64, "gpu": "rtx4090"}))
        self.assertEqual([os.path.basename(r["path"]) for r in rows], names)
        self.assertEqual({frozenset(r) for r in rows}, {frozenset(rows[0])})  # one set of columns
        for row in rows:
            if row["device_expected"]:
                report = vramcast.predict(row["path"], {"seq": 64, "gpu": "rtx4090"})
                self.assertEqual((row["device_expected"], row["verdict"]), (report.device.expected, report.verdict))
        paths = (os.path.join(CONFIGS, name) for name in names)
        self.assertEqual(list(vramcast.scan(paths, {"seq": 64, "gpu": "rtx4090"}, walk=False, jobs=2)), rows)
        self.assertEqual([r["schema"] for r in vramcast.scan([CONFIGS], flat=False)], ["vramcast.scan/1"] * len(names))

    def test_what_is_wrong_is_a_row_or_an_error(self):
        row, = vramcast.scan([self.path("none")], walk=False)
        self.assertEqual((row["outcome"], row["error_code"]), ("error", "notfound"))
        with self.assertRaisesRegex(vramcast.VramError, "no setting 'sqe'"):
            list(vramcast.scan(CONFIGS, {"sqe": 1}))

    def test_a_scan_may_be_left(self):
        before = threading.active_count()
        rows = vramcast.scan((TINY for _ in range(10**6)), {"seq": 64}, walk=False)
        self.assertEqual(next(rows)["path"], TINY)
        rows.close()
        self.assertEqual(threading.active_count(), before)  # nobody is left feeding or waiting

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "no pandas")
    def test_rows_make_a_frame(self):
        import pandas
        frame = pandas.DataFrame(vramcast.scan(CONFIGS, {"seq": 64}))
        self.assertEqual(len(frame), len(os.listdir(CONFIGS)))
        self.assertTrue((frame.dropna()["device_high"] >= frame.dropna()["device_low"]).all())


class Arguments(types.SimpleNamespace):
    """What the guard uses of TrainingArguments."""

    def to_json_string(self):
        return json.dumps(dict(vars(self), output_dir="out"))


class Weights:
    dtype = "torch.float32"

    @staticmethod
    def parameters():
        return []


class Guard(Case):
    ARGS = dict(per_device_train_batch_size=4, gradient_accumulation_steps=1, learning_rate=1e-5, bf16=True)

    def guard(self, **more):
        return MemoryGuard(CONFIG_7B, plan={"seq": 2048}, **more)

    def test_what_does_not_fit_is_refused(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.guard(gpu="b200-180g").on_train_begin(Arguments(**self.ARGS))
            with self.assertRaises(WillNotFit) as caught:
                self.guard(gpu="a100-80g").on_train_begin(Arguments(**self.ARGS), None, None, train_dataloader=None)
        self.assertEqual(caught.exception.verdict.result, "does-not-fit")
        self.assertEqual({s.key: s.value for s in caught.exception.report.settings}["micro_batch"], "4")
        with self.assertWarnsRegex(UserWarning, "does-not-fit"):
            self.guard(gpu="a100-80g", action="warn").on_train_begin(Arguments(**self.ARGS))

    def test_the_plan_is_that_of_the_arguments(self):
        def precision(model=None, **args):
            return plan_of(Arguments(**args), model).get("precision")

        self.assertEqual(precision(**self.ARGS), "bf16-autocast")
        self.assertEqual(precision(Weights, **self.ARGS), "bf16-mixed")
        self.assertEqual(precision(Weights, **dict(self.ARGS, bf16=False)), "fp32")
        many = plan_of(Arguments(world_size=8, **self.ARGS), None, {"micro_batch": 1})
        self.assertEqual([many.get(k) for k in ("gpus", "strategy", "micro_batch")], ["8", "ddp", "1"])

    def test_a_model_that_trains_something_else_is_noticed(self):
        part = types.SimpleNamespace(requires_grad=True, numel=lambda: 1000)
        model = types.SimpleNamespace(dtype="torch.bfloat16", parameters=lambda: [part])
        with self.assertWarnsRegex(UserWarning, "the model 1000"):
            self.guard(gpu="b200-180g").on_train_begin(Arguments(**self.ARGS), model=model)

    def test_other_events_do_nothing_and_a_card_is_needed(self):
        guard = self.guard()
        self.assertIsNone(guard.on_step_end(None, None, None, model=None))
        self.assertRaises(AttributeError, lambda: guard.step)
        self.assertRaises(ValueError, self.guard, action="exit")
        if not ("torch" in sys.modules and sys.modules["torch"].cuda.is_available()):
            self.assertRaisesRegex(ValueError, "gpu=", guard.on_train_begin, Arguments(**self.ARGS))
        self.assertNotIn("transformers", sys.modules)

    def test_a_real_trainer(self):
        pythons = [os.environ.get("VRAM_TORCH_PYTHON", sys.executable)]
        have = [p for p in pythons if not subprocess.run([p, "-c", "import transformers, accelerate, torch, cffi"],
                                                         capture_output=True, check=False).returncode]
        if not have:
            self.skipTest("no transformers")
        out = must(have[0], os.path.join(ROOT, "examples", "python", "guard.py"), self.dir, env=dict(
            os.environ, CUDA_VISIBLE_DEVICES=""))
        self.assertIn("trained 1 step", out)
        self.assertIn("refused: t4-16g: does-not-fit", out)


if __name__ == "__main__":
    unittest.main()
