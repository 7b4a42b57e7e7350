#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command from outside: exit codes, error lines, options, files, terminals, determinism.

    cli.py VRAMCAST
"""
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import time
import unittest
import unicodedata

VRAMCAST = os.path.abspath(sys.argv.pop(1))
ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
LLAVA = "fixtures/configs/tiny-llava-1.5"
QWEN3 = "fixtures/configs/tiny-qwen3"
LLAVA_7B = "fixtures/checkpoints/llava-1.5-7b-hf"
LLAVA_7B_CONFIG = LLAVA_7B + "/config.json"
OPTIONS = {
    "predict": "dump format help output plan settings strict templates",
    "check": "format help output plan require settings strict templates",
    "fit": "advice cards format global-batch help max min output plan require settings templates",
    "inspect": "config format help output strict templates tensors",
    "explain": "format help output plan settings strict templates",
    "compare": "format help output plan settings templates",
    "scan": "format help jobs output plan resume settings shard stdin templates",
    "list": "format help output",
}
CLEAN = {k: v for k, v in os.environ.items()
         if not k.startswith(("LC_", "LANG")) and k not in ("NO_COLOR", "TERM")}


def run(*words, env=None, **more):
    done = subprocess.run([VRAMCAST] + list(words), cwd=ROOT, env=dict(CLEAN, **(env or {})),
                          stdout=more.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE,
                          check=False, **more)
    return done.returncode, done.stdout, done.stderr


def tiny_config():
    with open(os.path.join(ROOT, QWEN3, "config.json")) as file:
        return json.load(file)


def columns(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in line)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = folder.name

    def path(self, name, text=None):
        path = os.path.join(self.dir, name)
        if text is not None:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(text if isinstance(text, bytes) else text.encode())
        return path

    def patched(self, source, **parts):
        """The config of a fixture with other values: text_config__model_type="phi"."""
        with open(os.path.join(ROOT, source, "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        for key, value in parts.items():
            at, keys = config, key.split("__")
            for part in keys[:-1]:
                at = at[part]
            at[keys[-1]] = value
        return config

    def findings(self, *words, code=0):
        """{id: [finding]} of a prediction"""
        found = {}
        for f in json.loads(self.answer("predict", *words, "-f", "json", code=code))["findings"]:
            found.setdefault(f["id"], []).append(f)
        return found

    def config(self, name="model", **values):
        self.path(name + "/config.json", json.dumps(values))
        return os.path.join(self.dir, name)

    def refused(self, code, pattern, *words, **more):
        """One line on stderr that matches, nothing on stdout."""
        got, out, err = run(*words, **more)
        err = err.decode()
        self.assertEqual((got, out or b""), (code, b""), err)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertTrue(err.startswith("vramcast: "), err)
        self.assertRegex(err, pattern)
        self.assertTrue(all(c == "\n" or c.isprintable() for c in err), repr(err))

    def answer(self, *words, code=0, **more):
        got, out, err = run(*words, **more)
        self.assertEqual((got, err), (code, b""), words)
        return out.decode()


class Settings(Case):
    """A setting is followed, refused, or said to have no effect: never dropped."""

    def found(self, *words):
        report = json.loads(self.answer("predict", *words, "--format", "json"))
        return {f["subject"] for f in report["findings"] if f["id"] == "V0302"}, report

    def test_without_effect(self):
        for model, words, subject in (
                (LLAVA, ["tiles=3"], "tiles"),
                (LLAVA, ["lora.rank=3"], "lora.rank"), (LLAVA, ["gpus=8"], "gpus"),
                (LLAVA, ["new_tokens=5"], "new_tokens"), (LLAVA, ["dim.x=3"], "x"),
                (QWEN3, ["images=2"], "images"), (QWEN3, ["mode=infer", "train=lora"], "train"),
                (QWEN3, ["mode=infer", "steps=3"], "steps"),
                (QWEN3, ["strategy=zero2", "gpus=2", "ddp.bucket_cap=3MiB"], "ddp.bucket_cap"),
                (QWEN3, ["train=lora", "lora.targets=q,nonesuch"], "lora.targets")):
            self.assertIn(subject, self.found(model, "seq=64", *words)[0], words)

    def test_with_effect(self):
        for model, words in (
                (LLAVA, ["vision_select_layer=-1", "steps=3", "optimizer=adamw", "optimizer.foreach=off"]),
                (QWEN3, ["strategy=zero2", "gpus=2", "zero.reduce_bucket_size=5000"]),
                (QWEN3, ["train=lora", "lora.rank=4", "lora.alpha=8", "lora.targets=q,v"]),
                (QWEN3, ["mode=infer", "kv_tokens=70", "logits=last"])):
            unused, report = self.found(model, "seq=64", *words)
            self.assertEqual(unused, set(), words)
            for word in words:
                key, value = word.split("=")
                if key != "vision_select_layer":
                    self.assertEqual(report["plan"][key]["origin"], "given", word)

    def test_packed(self):
        # matrices of the two layers: 4 bits and a constant for 64 of them
        def parameters(*words):
            report = json.loads(self.answer("predict", QWEN3, "mode=load", *words, "--format", "json"))
            return sum(c["parameters"]["bytes"] for c in report["components"]), report
        plain, whole = parameters()
        packed, report = parameters("weights=nf4")
        config = tiny_config()
        h, d = config["hidden_size"], config["head_dim"]
        heads = config["num_attention_heads"] + config["num_key_value_heads"]
        matrices = config["num_hidden_layers"] * (2 * h * d * heads + 3 * h * config["intermediate_size"])
        self.assertEqual(plain - packed, matrices * 2 - (matrices // 2 + matrices // 64 * 4 +
                                                         7 * config["num_hidden_layers"] * 64))
        self.assertEqual(report["model"]["parameters"], whole["model"]["parameters"])
        self.refused(2, "no Linear is left to pack", "predict", QWEN3, "weights=nf4", "seq=64")
        config["quantization_config"] = {"quant_method": "bitsandbytes", "load_in_8bit": True}
        report = json.loads(self.answer("predict", self.config(**config), "mode=load", "--format", "json"))
        self.assertEqual(report["plan"]["weights"], {"value": "int8", "origin": "model"})

    def test_images_that_are_tiles(self):
        # pictures that have no room in the sequence, where as many tiles have
        with open(os.path.join(ROOT, "tests/diff/reference/smolvlm-11-050.json")) as f:
            model = self.config(**json.load(f)["config"])
        def report(*words):
            return json.loads(self.answer("predict", model, "seq=200", *words, "--format", "json"))
        one = report("images=1", "tiles=3")
        several = report("images=3")
        self.assertEqual(one["peak"]["allocated"], several["peak"]["allocated"])
        said = [f["text"] for f in several["findings"] if f["id"] == "V0303"]
        self.assertIn("read as so many tiles", said[0])
        self.assertNotIn("V0306", [f["id"] for f in several["findings"]])
        self.assertIn("V0306", [f["id"] for f in report("images=3", "tiles=17")["findings"]])

    def test_size_without_positions(self):
        for model in (LLAVA, "fixtures/configs/tiny-paligemma"):
            self.refused(2, "image_size=448 does not run with this model: its tower has positions", "predict",
                         model, "seq=1200", "image_size=448")

    def test_packed_decoder_only(self):
        # GPTQ and AWQ leave the tower as it is, bitsandbytes does not
        def tower(weights):
            report = json.loads(self.answer("predict", LLAVA, "mode=load", "weights=" + weights, "--format", "json"))
            return {c["name"]: c["parameters"]["bytes"] for c in report["components"]}
        plain = tower("as-stored")
        for weights in ("gptq-4", "awq-4"):
            packed = tower(weights)
            self.assertEqual(packed["vision"], plain["vision"])
            self.assertEqual(packed["projector"], plain["projector"])
            self.assertLess(packed["decoder"], plain["decoder"])
        self.assertLess(tower("nf4")["vision"], plain["vision"])

    def test_logits_of_a_prompt(self):
        # logits=full: 16 bits and their fp32 copy for each position, more than the 16 bits alone
        def peak(logits):
            report = json.loads(self.answer("predict", QWEN3, "mode=infer", "seq=512", "kv_tokens=513",
                                            "logits=" + logits, "allocator=exact", "--format", "json"))
            return report["peak"]["allocated"]["expected"]
        rows = tiny_config()["vocab_size"] * 511
        self.assertGreater(peak("full") - peak("last"), 2 * rows)
        self.assertLessEqual(peak("full") - peak("last"), 6 * rows + 4096)

    def test_adapters_by_expression(self):
        def trained(*words):
            report = json.loads(self.answer("predict", QWEN3, "seq=64", "train=lora", *words, "--format", "json"))
            return report["model"]["parameters"]["trainable"]
        both = trained("lora.targets=q_proj,k_proj")
        self.assertEqual(trained("lora.targets=.*layers\\.\\d+\\.self_attn\\.(q|k)_proj"), both)
        self.assertLess(trained("lora.targets=.*layers\\.0\\..*[qk]_proj"), both)
        # one projection of each of the two layers with twice and half the rank
        self.assertEqual(trained("lora.targets=q_proj", "lora.rank_pattern=layers.0.self_attn.q_proj=24,"
                                 "layers\\.1\\..*=8"), trained("lora.targets=q_proj"))
        self.refused(2, "no name and no expression", "predict", QWEN3, "train=lora", "lora.targets=q_(proj")
        self.refused(2, "not PATTERN=RANK", "predict", QWEN3, "train=lora", "lora.rank_pattern=q_proj")

    def test_some_modules_train(self):
        def trained(*words):
            report = json.loads(self.answer("predict", QWEN3, "seq=64", *words, "--format", "json"))
            return report["model"]["parameters"]["trainable"], report
        config = tiny_config()
        matrices = 2 * config["hidden_size"] * config["head_dim"] * (
            config["num_attention_heads"] + config["num_key_value_heads"])
        layer = matrices + 3 * config["hidden_size"] * config["intermediate_size"] + \
            2 * config["hidden_size"] + 2 * config["head_dim"]
        last, report = trained("train.modules=layers.1")
        self.assertEqual(last, layer)
        self.assertEqual(trained("train.modules=.*layers\\.[1-9]+")[0], layer)
        # what is below the last layer keeps nothing
        whole = trained()[1]["saved"]["total"]
        self.assertLess(report["saved"]["total"], whole)
        self.refused(2, "names no module", "predict", QWEN3, "seq=64", "train.modules=nonesuch")

    def test_lengths(self):
        def reserved(*words):
            return json.loads(self.answer("predict", LLAVA_7B_CONFIG, "seq=2048", "train=lora", *words, "--format",
                                          "json"))["peak"]["reserved"]
        varied, fixed = reserved(), reserved("lengths=fixed")
        self.assertGreater(varied["high"], fixed["high"])
        for bound in ("low", "expected"):
            self.assertEqual(varied[bound], fixed[bound])

    def test_saved_modules(self):
        def parameters(*words):
            report = json.loads(self.answer("predict", QWEN3, "seq=64", "train=lora", *words, "--format", "json"))
            return report["model"]["parameters"]
        config = tiny_config()
        embedding = config["vocab_size"] * config["hidden_size"]
        plain, saved = parameters(), parameters("train.embeddings=full")
        # a copy of each, though the output layer is tied to the embedding
        self.assertEqual(saved["total"] - plain["total"], 2 * embedding)
        self.assertEqual(saved["trainable"] - plain["trainable"], 2 * embedding)
        one = parameters("lora.modules_to_save=embed_tokens")
        self.assertEqual(one["trainable"] - plain["trainable"], embedding)

    def test_room_for_pictures(self):
        report = json.loads(self.answer("predict", LLAVA, "text_tokens=30", "images=2", "--format", "json"))
        tokens = int(report["plan"]["seq"]["value"]) - 30
        self.assertTrue(tokens > 0 and tokens % 2 == 0)
        report = json.loads(self.answer("predict", LLAVA, "seq=%d" % (tokens - 1), "images=2", "--format", "json"))
        self.assertIn("V0306", [f["id"] for f in report["findings"]])
        self.refused(2, "give one of them", "predict", LLAVA, "seq=64", "text_tokens=3")
        self.refused(2, "less than the prompt", "predict", QWEN3, "mode=infer", "seq=64", "kv_tokens=3")


class Heads(Case):
    """Classifiers: by timm's configuration, by task, by the class that config.json names."""

    def parameters(self, path, *words):
        return json.loads(self.answer("predict", path, *words, "--format", "json"))["model"]["parameters"]["total"]

    def test_timm(self):
        # counts: timm 1.0.31, create_model(..., num_classes=10)
        for name, count in (("resnet18", 11181642), ("vit_base_patch16_224.augreg_in1k", 85806346),
                            ("efficientnet_b0", 4020358), ("swin_tiny_patch4_window7_224", 27527044)):
            model = self.config(architecture=name, num_classes=10)
            self.assertEqual(self.parameters(model, "micro_batch=2"), count, name)
            self.assertEqual(self.parameters(model, "micro_batch=2", "loss=classifier"), count, name)

    def test_timm_by_likeness(self):
        model = self.config(architecture="vit_base_patch8_448", num_classes=10)
        self.assertEqual(self.parameters(model), 87621898)
        self.assertRegex(str(self.findings(model)), "read as vit_base_patch[0-9]+_224 with patches of 8 and pictures of 448")
        given = self.config("given", architecture="vit_base_patch8_448", num_classes=10,
                            model_args={"patch_size": 16, "img_size": 224})
        self.assertEqual(self.parameters(given), 85806346)
        self.assertIn("V0203", self.findings(self.config("no", architecture="vit_enormous_patch8_448"), code=4))

    def test_task(self):
        bert = dict(model_type="bert", architectures=["BertForMaskedLM"], hidden_size=64, intermediate_size=128,
                    num_hidden_layers=2, num_attention_heads=4, vocab_size=512)
        model = self.config(**bert)
        plain, classified = self.parameters(model, "seq=32"), self.parameters(model, "seq=32", "task=classify")
        # the head of masked words: a square, its bias, a norm and a bias a word; then a pooler and two classes
        self.assertEqual(plain - classified, (64 * 64 + 64 + 2 * 64 + 512) - (64 * 64 + 64 + 2 * 64 + 2))
        self.assertEqual(self.parameters(model, "seq=32", "loss=classifier"), classified)
        named = self.config("named", **dict(bert, architectures=["BertForSequenceClassification"],
                                            id2label={"0": "a", "1": "b", "2": "c"}))
        self.assertEqual(self.parameters(named, "seq=32") - classified, 64 + 1)
        self.refused(2, "a contrastive loss needs a model of two towers", "predict", model, "loss=contrastive")


class Usage(Case):
    def test_nothing_and_unknown(self):
        self.refused(2, "a command is missing")
        self.refused(2, "no command 'predcit'; did you mean predict\\?", "predcit")
        self.refused(2, "no command 'xyzzy' ", "xyzzy")
        self.refused(2, "path of a model is missing.*usage: vramcast predict", "predict")
        self.refused(2, "what to explain is missing", "explain", LLAVA)
        self.refused(2, "one word too many: 'b'", "predict", LLAVA, "b")
        self.refused(2, "one word too many: 'b'", "list", "gpus", "b")
        self.refused(2, "no table 'gpu'; did you mean gpus", "list", "gpu")
        self.refused(2, "no table 'cards'; did you mean gpus\\?", "list", "cards")
        self.refused(2, "no table 'xyzzy': settings, ", "list", "xyzzy")

    def test_options(self):
        self.refused(2, "no option --formta; did you mean --format\\?", "predict", "--formta", "json", LLAVA)
        self.refused(2, "no option -x", "predict", "-x", LLAVA)
        self.refused(2, "--format takes a value", "predict", LLAVA, "--format")
        self.refused(2, "-f takes a value", "predict", LLAVA, "-f")
        self.refused(2, "takes no value", "predict", LLAVA, "--strict=1")
        self.refused(2, "--format jsn.*did you mean json", "predict", LLAVA, "--format", "jsn")
        self.refused(2, "--format svg: text or json", "inspect", LLAVA, "--format", "svg")
        self.refused(2, "no pass is called 'tre'", "predict", LLAVA, "--dump", "tre")
        self.refused(2, "one word too many: '--strict'", "predict", LLAVA, "--", "--strict")

    def test_settings(self):
        self.refused(2, "no setting 'micro_bach'; did you mean 'micro_batch'\\?", "predict", LLAVA, "micro_bach=2")
        self.refused(2, "micro_batch", "predict", LLAVA, "micro_batch=0")
        self.refused(2, "seq", "predict", LLAVA, "seq=many")
        self.refused(2, "gpu=abacus: no such card is known \\(", "predict", LLAVA, "gpu=abacus")
        for word, near in [("a100", "a100-pcie-40g, a100-40g, a100-80g, "), ("v100", "v100-16g, "),
                           ("3090", "rtx3090-24g"), ("rtx490", "rtx4090-24g\\?")]:
            self.refused(2, "no such card is known; did you mean " + near, "predict", LLAVA, "gpu=" + word)
        self.refused(2, "'inference' is not known; did you mean infer\\?", "predict", LLAVA, "mode=inference")
        self.refused(2, "did you mean adamw-fused\\?", "predict", LLAVA, "optimizer=adamw_fuse")
        self.refused(2, "optimizer=badam is not supported", "predict", LLAVA, "optimizer=badam")
        self.refused(2, "steps inside backward: accumulation must be 1", "predict", LLAVA, "optimizer=lomo",
                     "accumulation=2")
        self.refused(2, "steps inside backward: not under strategy=ddp", "predict", LLAVA, "strategy=ddp",
                     "gpus=2", "optimizer_in_backward=on")
        self.refused(2, "tells tensors apart: not under strategy=zero2", "predict", LLAVA, "strategy=zero2",
                     "gpus=2", "optimizer=apollo")
        self.refused(2, "muon\\+adamw.*torch has it since 2.9, not in 2.4", "predict", LLAVA,
                     "optimizer=muon+adamw", "torch=2.4")
        self.refused(2, "'decodr' is no component.*did you mean decoder", "explain", LLAVA, "decodr")
        self.refused(2, "'layers.0' is 2 modules: .*COMPONENT.layers.0", "explain", LLAVA, "layers.0")

    def texts(self, *words, model=LLAVA):
        found = json.loads(self.answer("predict", model, "seq=64", "images=0", *words, "--format", "json"))["findings"]
        return {f["id"]: f["text"] for f in found}

    def test_findings_of_optimizers(self):
        self.assertNotIn("V0307", self.texts())
        self.assertIn("older than what the rules know: read as 2.0", self.texts("torch=1.13")["V0307"])
        self.assertIn("newer than what the rules know: read as 2.9", self.texts("torch=3.1")["V0307"])
        self.assertIn("older than what the rules know: read as 4.29", self.texts("transformers=4.9")["V0307"])
        self.assertIn("optimizers and their default follow it", self.texts("transformers=4.46")["V0307"])
        self.assertIn("is read as muon+adamw", self.texts("optimizer=muon")["V0303"])
        self.assertIn("its kernels need", self.texts("optimizer=adamw-4bit")["V0301"])
        self.assertIn("none is clipped", self.texts("optimizer=lomo", "clip_grad=on")["V0302"])
        self.assertIn("no weight of a Linear", self.texts("optimizer=apollo", "optimizer.targets=nothing")["V0302"])
        # what has at least 4,096 elements (512x64; twice two of 64x64 and three of 64x128): the parameter,
        # its gradient and two states, 4 bytes each
        elements = 512 * 64 + 2 * (2 * 64 * 64 + 3 * 64 * 128)
        self.assertIn(" %d bytes " % (16 * elements),
                      self.texts("optimizer=adamw-cpu", "precision=fp32", model=QWEN3)["V0406"])
        # no tensor of the model has the 100,000 elements from which on state is paged
        self.assertNotIn("V0406", self.texts("optimizer=paged-adamw-8bit"))
        for word in ("task=dpo", "pairs=2", "ref_model=full"):
            self.refused(2, word + " is not supported", "predict", LLAVA, word)
        self.refused(2, "'decodr' is no component.*did you mean decoder", "explain", LLAVA, "decodr")
        self.refused(2, "'layers.0' is 2 modules: .*COMPONENT.layers.0", "explain", LLAVA, "layers.0")

    def test_settings_files(self):
        """Words and --plan win over files; every setting says who gave it; bad files say where."""
        zero = self.path("zero2.json", '{\n "train_micro_batch_size_per_gpu": "auto",\n'
                                       ' "zero_optimization": {"stage": 2,\n  "overlap_comm": true}}')
        launch = self.path("launch.sh", "torchrun --nproc_per_node 2 train.py --deepspeed zero2.json \\\n"
                                        "  --bf16 True --per_device_train_batch_size 4\n")
        files = ["--settings", zero, "-s", launch]
        plan = json.loads(self.answer("predict", LLAVA, "seq=64", *files, "-f", "json"))["plan"]
        self.assertEqual(plan["strategy"], {"value": "zero2", "origin": "given", "by": zero + ":3"})
        self.assertEqual(plan["zero.overlap_comm"], {"value": "on", "origin": "given", "by": zero + ":4"})
        self.assertEqual(plan["micro_batch"], {"value": "4", "origin": "given", "by": launch + ":2"})
        self.assertEqual(plan["clip_grad"],
                         {"value": "on", "origin": "default", "by": "default of DeepSpeed"})
        self.assertEqual(plan["seq"], {"value": "64", "origin": "given"})
        self.assertEqual(plan["gpus"]["value"], "2")
        other = self.path("plan.json", '{"gpus": 8}')
        plan = json.loads(self.answer("predict", LLAVA, *files, "--plan", other, "micro_batch=1", "-f",
                                      "json"))["plan"]
        self.assertEqual(plan["micro_batch"], {"value": "1", "origin": "given"})
        self.assertEqual(plan["gpus"], {"value": "8", "origin": "given"})
        text = self.answer("predict", LLAVA, *files)
        self.assertIn("strategy=zero2", text)
        self.assertRegex(re.sub(r"\s+", " ", text), "strategy=zero2 given by [^ ]*zero2.json:3")
        self.assertIn("optimizer=adamw-fused default of TrainingArguments", re.sub(r"\s+", " ", text))
        dump = self.answer("predict", LLAVA, *files, "--dump", "plan")
        self.assertIn("strategy = zero2  given by %s:3\n" % zero, dump)
        self.assertIn("accumulation = 1  default of TrainingArguments\n", dump)
        self.answer("explain", LLAVA, "decoder", *files)
        bad = self.path("bad.yaml", "base_model: x\nadapter: [lora\n")
        self.refused(3, "bad.yaml:3: .*flow sequence", "predict", LLAVA, "--settings", bad)
        self.refused(3, "none.yaml: there is no such file", "predict", LLAVA, "-s", self.path("none.yaml"))
        three = self.path("zero3.json", '{"zero_optimization": {"stage": 3}}')
        plan = json.loads(self.answer("predict", LLAVA, "-s", three, "gpus=2", "-f", "json"))["plan"]
        self.assertEqual(plan["strategy"]["value"], "zero3")
        doubt = self.path("doubt.json", '{"zero_optimization": {"stage": 2}, "amp": {"enabled": true}}')
        found = json.loads(self.answer("predict", LLAVA, "-s", doubt, "-f", "json"))["findings"]
        self.assertIn(("V0321", "warn", doubt + ":1"),
                      [(f["id"], f["severity"], f["subject"]) for f in found])

    def test_what_to_explain(self):
        """An end counts when it is unique; nothing is no end."""
        for word in ("weight", "bias", "q_proj.weight", "vision.weight", "decoder.weight"):
            self.refused(2, r"'%s' is \d+ parameters: \S+, \S+ \.\.\.; write more of the path" % word,
                         "explain", LLAVA, word)
        for word in ("", ".", ".weight", "vision."):
            self.refused(2, "'%s' is no component, module or parameter" % re.escape(word), "explain", LLAVA, word)
        self.assertIn("lm_head.weight\n", self.answer("explain", LLAVA, "lm_head.weight"))
        self.assertRegex(self.answer("explain", LLAVA, "position_ids"), r"\nbuffer, i64, in no file\n")

    def test_settings_that_do_not_run(self):
        """The setting is named, not the line of a template; another one beside it is not blamed."""
        for words in (["micro_batch=65536"], ["image_size=672"], ["vision_select_layer=100"],
                      ["strategy=zero2", "gpus=8", "zero.reduce_bucket_size=9223372036854775807"],
                      ["precision=bf16", "steps=3", "image_size=672", "attention=sdpa"]):
            for more in ([], ["-f", "json"], ["--dump", "events"]):
                blamed = next(w for w in words if re.search("batch=|image|layer|bucket", w))
                self.refused(2, "vramcast: %s (does not run with this model|is too much): [^:]*$" % re.escape(blamed),
                             "predict", LLAVA_7B, *words, *more)
        self.refused(2, "vision_select_layer=100", "explain", LLAVA_7B, "decoder", "vision_select_layer=100")
        self.refused(2, "kv_tokens=5 is less", "predict", LLAVA, "mode=infer", "seq=100", "kv_tokens=5")

    def test_attention_that_cannot_run(self):
        self.refused(2, "attention=flash2 does not run on v100-32g: .*8.0.*7.0", "predict", LLAVA,
                     "gpu=v100-32g", "attention=flash2")
        self.refused(2, "attention=flash3 does not run in fp32", "predict", LLAVA, "attention=flash3", "precision=fp32")
        for words, pattern in [
                (["gpu=t4"], "no efficient one in bf16; the math kernel ran"),
                (["gpu=t4", "precision=fp16"], "no flash kernel; the efficient kernel ran"),
                (["gpu=v100-32g", "attention=efficient"], "attention=efficient: .*the math kernel ran"),
                (["attention=flash2", "padded=true"], "attention=flash2: .*the efficient kernel ran"),
                (["gpu=a100-80g"], None), (["attention=flash2"], None), (["attention=math"], None),
                (["precision=fp32", "gpu=t4"], None)]:
            found = self.findings(LLAVA, "seq=64", *words).get("V0401", [])
            self.assertEqual(len(found), pattern is not None, (words, found))
            if pattern:
                self.assertRegex(found[0]["text"], pattern)

    def test_help(self):
        self.assertEqual(self.answer("--help"), self.answer("help"))
        self.assertRegex(self.answer("--version"), r"^vramcast \d+\.\d+\.\d+\n$")
        for command, options in OPTIONS.items():
            text = self.answer(command, "--help")
            self.assertEqual(text, self.answer("help", command))
            self.assertEqual(text, self.answer(command, "-h", "whatever"))
            self.assertEqual(sorted(re.findall(r"^  (?:-.,|   ) --([\w-]+)", text, re.M)), options.split())
            self.assertIn("\n  %s" % command, self.answer("--help"))
            for line in text.splitlines():
                self.assertLessEqual(columns(line), 80, line)

    def test_words_in_any_order(self):
        first = self.answer("predict", LLAVA, "seq=64", "--format", "json")
        self.assertEqual(first, self.answer("predict", "--format=json", "seq=64", LLAVA))
        self.assertEqual(first, self.answer("predict", "seq=64", LLAVA, "-f", "json",
                                            env={"POSIXLY_CORRECT": "1"}))


class Input(Case):
    def test_missing_and_bad(self):
        self.refused(3, "nowhere: there is no such file or folder", "predict", "nowhere")
        self.refused(3, "nowhere", "inspect", "nowhere")
        bad = os.path.dirname(self.path("bad/config.json", '{"model_type": "llama",}'))
        self.refused(3, r"config.json: .*\(offset \d+\)", "predict", bad)
        self.refused(3, "not a number|integer expected", "predict",
                     self.config(model_type="llama", hidden_size="big"))
        self.refused(3, "vision_feature_select_strategy: 'bogus' is none of: default full", "predict",
                     self.config(**self.patched(LLAVA, vision_feature_select_strategy="bogus")))
        self.refused(3, "layer_types.0.: 'chunked' is none of", "predict",
                     self.config(**self.patched(QWEN3, layer_types=["chunked"])))
        # a path with '=' in its first part needs ./
        self.refused(3, "a=b", "predict", "./a=b")

    def test_errors_name_the_path_as_given(self):
        folder = self.config(model_type="llama", hidden_size="big")
        for path in (folder, folder + "/", os.path.join(folder, "config.json")):
            self.refused(3, "vramcast: %s/config.json: hidden_size: " % re.escape(folder), "predict", path)
        self.path("model/model.safetensors", b"nothing")
        for path in (folder, folder + "/model.safetensors"):
            self.path("model/config.json", "{}")
            self.refused(3, "vramcast: %s/model.safetensors: " % re.escape(folder), "predict", path)
        tower = os.path.dirname(self.path("tower/config.json", '{"model_type": 1'))
        words = ["predict", self.config("named", model_type="llava_llama", mm_vision_tower="a/b",
                                        architectures=["LlavaLlamaForCausalLM"], mm_projector_type="mlp2x_gelu")]
        self.refused(3, "vramcast: %s/config.json: " % re.escape(tower), *words, "vision_tower=" + tower)
        self.path("tower/config.json", json.dumps({"model_type": "clip_vision_model"}))
        found = self.findings(*words[1:], "vision_tower=" + tower)["V0213"]
        self.assertIn("come from %s/" % tower, found[0]["text"])

    def test_config_that_is_a_link(self):
        self.path("elsewhere/config.json", json.dumps({"model_type": "llama"}))
        os.mkdir(self.path("model"))
        os.symlink("../elsewhere/config.json", self.path("model/config.json"))
        self.refused(3, "config.json is a link that leads out .*not followed, and there are no weights", "predict",
                     self.path("model"))
        os.unlink(self.path("elsewhere/config.json"))
        self.refused(3, "config.json is a link to a file that is not there", "predict", self.path("model"))

    def test_parts_without_a_template(self):
        """The generic answer says which part; a template is not used for a decoder it was not written for."""
        for source, parts in [(LLAVA, {"text_config__model_type": "mamba"}),
                              (LLAVA, {"text_config": {"model_type": "rwkv"}}),
                              (LLAVA, {"text_config": {"model_type": "jamba"}}),
                              (LLAVA, {"vision_config__model_type": "regnet"}),
                              ("fixtures/configs/tiny-paligemma", {"text_config__model_type": "mamba"}),
                              ("fixtures/configs/tiny-paligemma", {"text_config__model_type": "llama"})]:
            model = self.config(**self.patched(source, **parts))
            found = self.findings(model, code=4)
            part = next(iter(parts)).split("__")[0]
            self.assertEqual(found["V0203"][0]["subject"], "config.json: %s.model_type" % part)
            self.assertIn("no template describes model_type", found["V0203"][0]["text"])
            text = self.answer("predict", model, code=4)
            self.assertIn("unknown parameters", text)
            self.assertNotIn("are exact", text)
            self.assertNotIn("all trained", text)
            self.assertRegex(self.answer("inspect", model), r"parameters +unknown")

    def test_own_templates(self):
        """What a template refuses is an answer, a mistake in it an error with its place; a part needs a family
        line when its class, or one above it, has any."""
        text = "family mine: Mine\nmodule Part extends LlamaModel:\n  attr a = 1\n" \
               "module Mine(ids):\n  child part: Part() using config.part\n" \
               "  function inputs(): return {ids: new((setting(micro_batch), 4), i64)}\n  %s\n"
        model = self.config(model_type="mine", part={"model_type": "other", "hidden_size": 8, "num_hidden_layers": 1,
                                                     "num_attention_heads": 2, "intermediate_size": 8, "vocab_size": 8})

        def words(body, lines=""):
            folder = os.path.dirname(self.path("vt/mine.vt", text % body + lines))
            return ["predict", model, "--templates", folder, "micro_batch=2"]
        known = "family other: Part\n"
        found = self.findings(*words("error(\"no such thing\")", known)[1:], code=4)["V0214"][0]
        self.assertIn("no such thing", found["text"])
        self.refused(3, "mine.vt: line 7, column 10: .*argument 2 is missing", *words("return add(1)", known))
        found = self.findings(*words("return part(ids)")[1:], code=4)["V0203"][0]
        self.assertEqual(found["subject"], "config.json: part.model_type")

    def test_activation_without_a_template(self):
        for key in ("text_config__hidden_act", "projector_hidden_act", "vision_config__hidden_act"):
            model = self.config(**self.patched(LLAVA, **{key: "xielu"}))
            found = self.findings(model, code=4)["V0214"][0]
            self.assertEqual(found["subject"], "config.json: " + key.replace("__", "."))
            self.assertIn("'xielu': no template says what this activation keeps", found["text"])
            report = json.loads(self.answer("predict", model, "-f", "json", code=4))
            self.assertGreater(report["model"]["parameters"]["total"], 0)

    def test_adapters_of_experts(self):
        """PEFT would adapt them, too: that is said where it is so, and only there."""
        def said(model_type, targets):
            sizes = {"hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 1, "vocab_size": 64,
                     "num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 16, "num_local_experts": 4}
            path = self.config(model_type, model_type=model_type, **sizes)
            return "V0308" in self.answer("predict", path, "seq=32", "train=lora", "lora.targets=" + targets)
        self.assertTrue(said("mixtral", "all-linear"))
        self.assertTrue(said("mixtral", "q_proj,w2"))
        self.assertFalse(said("mixtral", "q_proj,v_proj"))
        self.assertFalse(said("gpt_oss", "all-linear"))
        self.assertFalse(said("mistral", "all-linear"))

    def test_hostile_names(self):
        evil = self.path("\x1b]0;evil\x07\u202e")
        self.refused(3, r"\\x1b\]0;evil\\x07\\xe2\\x80\\xae", "predict", evil)
        os.mkdir(evil)
        self.path(evil + "/config.json", json.dumps({"model_type": "\x1b[31m\x9bred"}))
        for command in ("predict", "inspect"):
            out = self.answer(command, evil, code=4 if command == "predict" else 0)
            self.assertTrue(all(c == "\n" or c.isprintable() for c in out), repr(out))
        json.loads(self.answer("predict", evil, "--format", "json", code=4))
        json.loads(self.answer("inspect", evil, "--format", "json"))

    def test_unknown_peak(self):
        model = self.config(model_type="unheard-of")
        self.assertIn("cannot tell", self.answer("predict", model, code=4))
        self.assertIsNone(json.loads(self.answer("predict", model, "-f", "json", code=4))["peak"])
        self.refused(4, "not known", "predict", model, "--format", "svg")
        self.refused(4, "not known", "explain", model, "decoder")
        self.answer("inspect", model)

    def test_strict(self):
        self.refused(3, r"V0113, --strict", "predict", LLAVA, "--strict")
        self.refused(3, r"V0113, --strict", "predict", LLAVA, "--strict", "--dump", "tree")
        self.refused(3, r"V0113, --strict", "inspect", LLAVA, "--strict")
        self.refused(3, r"V0113, --strict", "explain", LLAVA, "decoder", "--strict")
        self.assertEqual(os.listdir(self.dir), [])
        # a config.json alone is what was asked for
        self.answer("predict", LLAVA + "/config.json", "--strict")
        self.assertEqual(self.findings(LLAVA + "/config.json")["V0118"][0]["severity"], "assume")

    def test_plan_is_a_pipe(self):
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        self.refused(3, "fifo: this is not a regular file", "predict", LLAVA, "-p", fifo, timeout=20)
        self.refused(3, "directory", "predict", LLAVA, "-p", self.dir)
        self.assertEqual(self.answer("predict", LLAVA, "-p", "/dev/stdin", input=b'{"seq": 64}'),
                         self.answer("predict", LLAVA, "seq=64"))

    def test_plan_file(self):
        plan = self.path("plan.json", '{"seq": 64, "micro_batch": 2, "padded": false, "gpu": "rtx4090",'
                                      ' "train": "lora", "lora.targets": ["q", "v"]}')
        words = ["seq=64", "micro_batch=2", "padded=off", "gpu=rtx4090", "train=lora", "lora.targets=q,v"]
        code, out, err = run("predict", LLAVA, *words, "-f", "json")
        self.assertEqual(run("predict", LLAVA, "--plan", plan, "-f", "json"), (code, out, err))
        # words win
        self.assertEqual(self.answer("predict", LLAVA, "-p", self.path("p.json", '{"seq": 32}'), "seq=64"),
                         self.answer("predict", LLAVA, "seq=64"))
        # what is wrong as a word is wrong in a file; a file that is no plan is another matter
        for code, text, pattern in [
                (2, '{"seq": 64, "micro_bach": 2}', r"'micro_bach': .*did you mean 'micro_batch'\?.*\(offset 12\)"),
                (2, '{"seq": "x"}', r"'seq': .*\(offset 1\)"),
                (2, '{"seq": 0}', r"'seq': .*\(offset 1\)"),
                (2, '{"seq": {"a": 1}}', r"'seq': an object cannot be a setting.*\(offset 8\)"),
                (2, '{"seq": null}', r"'seq': .*\(offset 8\)"),
                (3, '{"seq": 1, "seq": 2}', r"'seq': the key stands twice \(offset 11\)"),
                (3, '[1]', r"a plan is an object, not .*\(offset 0\)"),
                (3, '{"seq": 64} 1', r".*\(offset 12\)"),
                (2, '{"lora.targets": ["a,b"]}', r"'lora.targets': .*no commas \(offset 18\)"),
                (3, '', r".*\(offset 0\)")]:
            self.refused(code, "bad.json: " + pattern, "predict", LLAVA, "--plan", self.path("bad.json", text))
        self.refused(3, "No such file", "predict", LLAVA, "--plan", self.path("none.json"))

    def test_vision_tower_is_passed_on(self):
        self.answer("inspect", LLAVA, "vision_tower=" + self.dir)


class Hub(Case):
    """ORG/NAME in the local cache."""

    def cache(self, root):
        snapshot = os.path.join(root, "models--some-org--Tiny.1_x", "snapshots", "abc")
        os.makedirs(snapshot)
        os.makedirs(os.path.join(root, "models--some-org--Tiny.1_x", "refs"))
        with open(os.path.join(root, "models--some-org--Tiny.1_x", "refs", "main"), "w") as f:
            f.write("abc")
        with open(os.path.join(snapshot, "config.json"), "w") as f:
            json.dump(tiny_config(), f)

    def test_the_first_place_that_is_set(self):
        for variable, behind in (("HF_HUB_CACHE", "."), ("HF_HOME", "hub"), ("XDG_CACHE_HOME", "huggingface/hub"),
                                 ("HOME", ".cache/huggingface/hub")):
            root = os.path.join(self.dir, variable)
            self.cache(os.path.join(root, behind))
            clean = {"HF_HUB_CACHE": "", "HF_HOME": "", "XDG_CACHE_HOME": "", "HOME": self.dir, variable: root}
            code, out, err = run("inspect", "some-org/Tiny.1_x", env=clean)
            self.assertEqual((code, err), (0, b""), variable)
            self.assertIn(b"Qwen3ForCausalLM", out)

    def test_what_is_not_there(self):
        code, out, err = run("inspect", "some-org/none", env={"HF_HUB_CACHE": self.dir})
        self.assertEqual((code, out), (3, b""))
        self.assertIn(b"neither a path nor a model in the local hub cache", err)
        for name in ("../no-such-model", "no/such/model", "no/../such", "/no/such", "no-such/", "./no-such"):
            code, _, err = run("inspect", name, env={"HF_HUB_CACHE": self.dir})
            self.assertEqual(code, 3, name)
            self.assertNotIn(b"hub cache", err)


class Output(Case):
    def test_file_is_the_same(self):
        target = self.path("answer.json")
        words = ["predict", LLAVA, "seq=64", "--format", "json"]
        self.assertEqual(self.answer(*words, "--output", target), "")
        with open(target, encoding="utf-8") as file:
            self.assertEqual(file.read(), self.answer(*words))
        umask = os.umask(0)
        os.umask(umask)
        self.assertEqual(os.stat(target).st_mode & 0o777, 0o666 & ~umask)
        os.chmod(target, 0o600)
        self.answer(*words, "-o", target)
        self.assertEqual(os.stat(target).st_mode & 0o777, 0o600)
        self.assertEqual(os.listdir(self.dir), ["answer.json"])

    def test_links_and_pipes(self):
        os.mkdir(self.path("real"))
        os.symlink("real/answer", self.path("link"))
        os.symlink("link", self.path("twice"))
        for _ in range(2):  # to nothing, then to a file
            self.answer("predict", LLAVA, "-o", self.path("twice"))
            self.assertTrue(os.path.islink(self.path("link")) and os.path.islink(self.path("twice")))
            self.assertEqual(os.listdir(self.path("real")), ["answer"])
        os.symlink("round", self.path("round"))
        self.refused(5, "round: Too many levels", "predict", LLAVA, "-o", self.path("round"))
        os.mkfifo(self.path("fifo"))
        self.refused(5, "nobody reads this pipe", "predict", LLAVA, "-o", self.path("fifo"), timeout=20)

    def test_signal_takes_the_file_along(self):
        child = subprocess.Popen([VRAMCAST, "predict", LLAVA_7B, "accumulation=128", "--dump", "events", "-o",
                                  self.path("answer")], cwd=ROOT, stderr=subprocess.DEVNULL)
        while child.poll() is None and not os.listdir(self.dir):
            time.sleep(0.001)
        child.terminate()
        self.assertEqual(child.wait(), -15)
        self.assertEqual(os.listdir(self.dir), [])

    def test_all_or_nothing(self):
        target = self.path("answer", "before")
        self.refused(3, "strict", "predict", LLAVA, "--strict", "-o", target)
        self.refused(2, "no pass", "predict", LLAVA, "--dump", "x", "-o", target)
        self.refused(4, "not known", "predict", self.config(model_type="x"), "-f", "svg", "-o", target)
        with open(target, "rb") as file:
            self.assertEqual(file.read(), b"before")
        self.assertEqual(sorted(os.listdir(self.dir)), ["answer", "model"])
        # an unknown peak is an answer
        self.answer("predict", self.config(model_type="x"), "-o", target, code=4)
        with open(target, "rb") as file:
            self.assertIn(b"cannot tell", file.read())

    def test_nowhere_to_write(self):
        self.refused(5, "No such file", "predict", LLAVA, "-o", self.path("no/answer"))
        self.answer("predict", LLAVA, "-o", "/dev/null")
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        for words in (["predict", LLAVA], ["predict", LLAVA, "-f", "json"], ["predict", LLAVA, "-f", "svg"],
                      ["predict", LLAVA, "--dump", "events"], ["inspect", LLAVA], ["list"], ["list", "gpus"],
                      ["inspect", LLAVA, "-f", "json"], ["explain", LLAVA, "decoder"], ["--help"], ["--version"],
                      ["predict", "--help"], ["list", "gpus", "-f", "json"]):
            with open("/dev/full", "wb") as full:
                self.refused(5, "standard output: No space left", *words, stdout=full)
        self.refused(5, "/dev/full", "predict", LLAVA, "-o", "/dev/full")

    def test_closed_descriptors(self):
        done = subprocess.run(["/bin/sh", "-c", '"$0" predict "$1" >&-', VRAMCAST, LLAVA],
                              cwd=ROOT, env=CLEAN, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 5)
        self.assertIn(b"standard output", done.stderr)

    def test_same_bytes(self):
        """Twice, and whatever the locale, the terminal's width and its colours are."""
        envs = [{}, {"LC_ALL": "C"}, {"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"},
                {"COLUMNS": "40", "TERM": "xterm-256color", "LANG": "C.UTF-8"}]
        for words in (["predict", LLAVA], ["predict", LLAVA, "-f", "json"], ["predict", LLAVA, "-f", "svg"],
                      ["predict", QWEN3, "--dump", "events"], ["predict", QWEN3, "--dump", "program"],
                      ["inspect", LLAVA, "--tensors", "--config"], ["explain", LLAVA, "decoder"], ["list", "gpus"]):
            self.assertEqual(len({self.answer(*words, env=env) for env in envs}), 1, words)

    def test_terminal(self):
        def shown(env, words=("predict", LLAVA, "seq=64", "gpu=rtx4090")):
            leader, follower = pty.openpty()
            child = subprocess.Popen([VRAMCAST] + list(words), cwd=ROOT, stdout=follower,
                                     env=dict(CLEAN, **env))
            os.close(follower)
            out = b""
            while True:
                try:
                    more = os.read(leader, 65536)
                except OSError:
                    break
                if not more:
                    break
                out += more
            os.close(leader)
            self.assertEqual(child.wait(), 0)
            return out.replace(b"\r\n", b"\n").decode()
        utf8 = {"TERM": "xterm", "LC_CTYPE": "C.UTF-8"}
        plain = self.answer("predict", LLAVA, "seq=64", "gpu=rtx4090")
        colour = shown(utf8)
        self.assertIn("\x1b[1;32mfits rtx4090-24g\x1b[0m", colour)
        self.assertEqual(re.sub("\x1b\\[[0-9;]*m", "", colour), plain)
        self.assertEqual(shown(dict(utf8, NO_COLOR="1")), plain)
        self.assertEqual(shown(dict(utf8, TERM="dumb")), plain)
        ascii_only = shown({"TERM": "xterm", "LANG": "C", "NO_COLOR": "1"})
        self.assertTrue(ascii_only.isascii())
        self.assertEqual(len(ascii_only.splitlines()), len(plain.splitlines()))


class Text(Case):
    CASES = [["predict", LLAVA], ["predict", LLAVA, "accumulation=16", "steps=40"],
             ["predict", LLAVA_7B, "micro_batch=8", "seq=2048", "gpu=a100-80g"],
             ["predict", LLAVA_7B, "estimator=sum"], ["predict", QWEN3, "mode=infer"],
             ["predict", QWEN3, "mode=load"], ["inspect", LLAVA_7B, "--config", "--tensors"],
             ["explain", LLAVA_7B, "decoder"], ["explain", LLAVA_7B, "loss"], ["list"]]

    def test_a_name_that_does_not_fit(self):
        model = self.config("a-folder-with-a-long-name-" * 3, **{"model_type": "clip_vision_model"})
        for line in self.answer("predict", model).splitlines():
            self.assertLessEqual(columns(line), 80, line)

    def test_towers_alone(self):
        for kind in ("clip_vision_model", "siglip_vision_model"):
            self.assertNotIn("cannot tell", self.answer("predict", self.config(model_type=kind)))

    def test_only_vision(self):
        """No sequence is assumed where there is none."""
        text = self.answer("predict", self.config(model_type="clip_vision_model"))
        self.assertNotIn("seq=", text)
        self.assertIn("images=1", text)

    def test_equal_parts_once(self):
        text = self.answer("predict", self.config(model_type="clip", architectures=["CLIPModel"]))
        self.assertEqual(text.count("projector Linear"), 1)
        self.assertEqual(text.count("vision CLIPVisionModel"), 1)

    def test_many_micro_batches(self):
        """Alike ones are left out: the peaks are on the line through those of which all are run."""
        for words in (["strategy=none"], ["strategy=ddp", "gpus=2"], ["strategy=zero1", "gpus=2"],
                      ["strategy=zero2", "gpus=2"]):
            peaks = {}
            for n in (100, 120, 300, 1000):
                report = json.loads(self.answer("predict", LLAVA, "seq=32", "accumulation=%d" % n, *words, "-f", "json"))
                last = {p["name"].split(".")[-1]: p["peak"] for p in report["phases"]
                        if p["name"].startswith("step2.micro%d." % n)}
                peaks[n] = [report["peak"]["allocated"]["expected"]] + [last[k] for k in sorted(last)]
                sampled = [f for f in report["findings"] if f["id"] == "V0405"]
                self.assertEqual(bool(sampled), n > 128)
            for n in (300, 1000):
                for a, b, c in zip(peaks[100], peaks[120], peaks[n]):
                    self.assertEqual((c - a) * 20, (b - a) * (n - 100), words)

    def test_own_limit_is_no_verdict(self):
        self.answer("predict", LLAVA_7B, "accumulation=1000", "steps=100")
        self.refused(2, "accumulation=1048576 is too much: the tool's own limit .*nothing of the card", "predict",
                     LLAVA_7B, "accumulation=1048576")

    def test_shape_of_the_page(self):
        tables = json.loads(self.answer("list", "-f", "json"))["tables"]
        for words in self.CASES + [["list", t["name"]] for t in tables]:
            for line in self.answer(*words).splitlines():
                self.assertLessEqual(columns(line), 80, (words, line))
                self.assertEqual(line, line.rstrip(), words)

    def test_table_adds_up(self):
        for words in (["micro_batch=8", "seq=2048"], [], ["train=lora"], ["mode=infer"], ["estimator=sum"]):
            lines = self.answer("predict", LLAVA_7B, *words).splitlines()
            start = next(i for i, l in enumerate(lines) if l.endswith("sum      %")) + 1
            end = next(i for i in range(start, len(lines)) if lines[i].startswith("    "))
            head = lines[start - 1]
            ends = [head.rindex(w) + len(w) for w in ("parameters", "gradients", "optimizer", "activations", "sum")]
            ends.append(len(head))

            def cells(line):
                out, at = [], 16
                for stop in ends:
                    text = line[at:stop].strip()
                    out.append(round(float(text) * 1000) if re.match(r"[\d.]+$", text) else 0)
                    at = stop
                return out
            rows, total = [cells(l) for l in lines[start:end]], cells(lines[end])
            for row in rows:
                if any(row[:4]):
                    self.assertEqual(sum(row[:4]), row[4], (words, row))
            for k in range(6):
                self.assertEqual(sum(row[k] for row in rows), total[k], (words, k))
            meter = next(l for l in lines if re.match(r"(allocated|sum) +[\d.]+ +[\d.]+ ", l)).split()
            self.assertEqual(round(float(meter[2]) * 1000), total[4])

    def test_numbers_are_the_report_s(self):
        words = [LLAVA_7B, "micro_batch=8", "seq=2048", "gpu=a100-80g"]
        report = json.loads(self.answer("predict", *words, "-f", "json"))
        gib = report["peak"]["allocated"]["expected"] / 2**30
        self.assertIn("%.3f" % gib, self.answer("predict", *words))
        self.assertIn("does not fit a100-80g", self.answer("predict", *words))
        factors = report["factors"]
        self.assertEqual(sum(factors.values()), report["peak"]["allocated"]["expected"])
        explained = json.loads(self.answer("explain", words[0], "decoder", *words[1:], "-f", "json"))
        decoder = next(c for c in report["components"] if c["name"] == "decoder")
        self.assertEqual(explained["at_peak"]["activations"], decoder["activations"])
        self.assertEqual(explained["at_peak"]["optimizer"], decoder["optimizer"])
        self.assertEqual(explained["at_peak"]["parameters"], decoder["parameters"]["bytes"])
        bytes_of = {}
        for g in explained["groups"]:
            if g["at_peak"]:
                bytes_of[g["category"]] = bytes_of.get(g["category"], 0) + g["bytes"] * g["count"]
        self.assertEqual({k: v for k, v in explained["at_peak"].items() if v}, bytes_of)

    def test_svg(self):
        import xml.dom.minidom
        for words in (["seq=64"], ["seq=64", "gpu=rtx4090"], ["mode=infer"], ["accumulation=3", "steps=5"]):
            picture = self.answer("predict", LLAVA, *words, "-f", "svg")
            xml.dom.minidom.parseString(picture)
            self.assertNotIn("href", picture)
            self.assertNotRegex(picture, r"url\(")
        # parts of each bar add up to its width
        report = json.loads(self.answer("predict", LLAVA_7B, "-f", "json"))
        picture = self.answer("predict", LLAVA_7B, "-f", "svg")
        bars = [l for l in picture.splitlines() if 'class="r' in l and "<rect" in l]
        self.assertEqual(len(bars), len(report["phases"]))
        for bar, phase in zip(bars, report["phases"]):
            widths = [int(w) for w in re.findall(r'width="(\d+)" height="16"', bar)]
            highest = max(p["peak"] for p in report["phases"])
            self.assertAlmostEqual(sum(widths), 560 * phase["peak"] / highest, delta=1)


class Dumps(Case):
    def test_program_is_a_program(self):
        """The printed templates, given as a user's own, are the same model and the same run."""
        for model in (LLAVA, "fixtures/configs/tiny-paligemma", QWEN3):
            program = self.answer("predict", model, "--dump", "program")
            folder = os.path.dirname(self.path("templates/all.vt", program))
            for words in (["--format", "json"], ["--dump", "events"], ["--dump", "tree"]):
                self.assertEqual(self.answer("predict", model, "seq=64", *words),
                                 self.answer("predict", model, "seq=64", *words, "--templates", folder))
            again = self.answer("predict", model, "--dump", "program", "--templates", folder)
            now, before = ([l for l in text.splitlines() if l and not l.startswith("# ")]
                           for text in (again, program))
            self.assertEqual(now[:len(before)], before)

    def test_events_make_the_report(self):
        report = json.loads(self.answer("predict", LLAVA, "seq=64", "-f", "json"))
        live, total, phases = {}, 0, []
        for line in self.answer("predict", LLAVA, "seq=64", "--dump", "events").splitlines():
            words = line.split()
            if words[0] == "phase":
                phases.append([words[1], total, total])
            elif words[0] == "alloc" and words[3] != "workspace":
                self.assertNotIn(words[1], live)
                live[words[1]] = int(words[2])
                total += int(words[2])
            elif words[0] == "free":
                total -= live.pop(words[1], 0)
            phases[-1][1] = max(phases[-1][1], total)
            phases[-1][2] = total
        self.assertEqual(phases, [[p["name"], p["peak"], p["end"]] for p in report["phases"]])


class Fixture(Case):
    def test_materialised(self):
        subprocess.run([sys.executable, os.path.join(ROOT, "fixtures", "materialise.py"), self.dir], check=True,
                       stdout=subprocess.DEVNULL)
        folder = self.path("llava-1.5-7b-hf")
        report = json.loads(self.answer("predict", folder, "--strict", "-f", "json"))
        self.refused(3, r"longer than the model.*--strict", "predict", folder, "--strict", "seq=9999")
        self.assertEqual(report["model"]["parameters"]["total"], 7063427072)
        self.assertEqual(report["model"]["format"], "safetensors")
        # a decoder without a template: what is stored is exact all the same
        self.path("llava-1.5-7b-hf/config.json", json.dumps(self.patched(LLAVA_7B, text_config__model_type="mamba")))
        generic = json.loads(self.answer("predict", folder, "-f", "json", code=4))
        self.assertEqual(generic["model"]["parameters"]["total"], 7063427072)
        self.assertIn("parameters are exact", [f for f in generic["findings"] if f["id"] == "V0203"][0]["text"])
        bare = json.loads(self.answer("predict", LLAVA_7B + "/config.json", "-f", "json"))
        self.assertEqual(bare["peak"], report["peak"])
        self.assertEqual(bare["components"], report["components"])


unittest.main(verbosity=1)
