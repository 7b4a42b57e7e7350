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
import unittest
import unicodedata

VRAMCAST = os.path.abspath(sys.argv.pop(1))
ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
LLAVA = "fixtures/configs/tiny-llava-1.5"
QWEN3 = "fixtures/configs/tiny-qwen3"
LLAVA_7B = "fixtures/checkpoints/llava-1.5-7b-hf"
OPTIONS = {
    "predict": "dump format help output plan strict templates",
    "inspect": "config format help output strict templates tensors",
    "explain": "format help output plan strict templates",
    "list": "format help output",
}
CLEAN = {k: v for k, v in os.environ.items()
         if not k.startswith(("LC_", "LANG")) and k not in ("NO_COLOR", "TERM")}


def run(*words, env=None, **more):
    done = subprocess.run([VRAMCAST] + list(words), cwd=ROOT, env=dict(CLEAN, **(env or {})),
                          stdout=more.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE,
                          check=False, **more)
    return done.returncode, done.stdout, done.stderr


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
        self.refused(2, "gpu=.*no such card", "predict", LLAVA, "gpu=abacus")
        self.refused(2, "optimizer=muon is not supported", "predict", LLAVA, "optimizer=muon")
        self.refused(2, "'decodr' is no component.*did you mean decoder", "explain", LLAVA, "decodr")
        self.refused(2, "'layers.0' is 2 modules: .*COMPONENT.layers.0", "explain", LLAVA, "layers.0")

    def test_help(self):
        self.assertEqual(self.answer("--help"), self.answer("help"))
        self.assertRegex(self.answer("--version"), r"^vramcast \d+\.\d+\.\d+\n$")
        for command, options in OPTIONS.items():
            text = self.answer(command, "--help")
            self.assertEqual(text, self.answer("help", command))
            self.assertEqual(text, self.answer(command, "-h", "whatever"))
            self.assertEqual(sorted(re.findall(r"^  (?:-.,|   ) --(\w+)", text, re.M)), options.split())
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
        # a path with '=' in its first part needs ./
        self.refused(3, "a=b", "predict", "./a=b")

    def test_adapters_of_experts(self):
        """PEFT would adapt them, too: that is said where it is so, and only there."""
        def said(model_type, targets):
            sizes = {"hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 1, "vocab_size": 64,
                     "num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 16, "num_local_experts": 4}
            path = self.config(model_type, model_type=model_type, **sizes)
            return "V0306" in self.answer("predict", path, "seq=32", "train=lora", "lora.targets=" + targets)
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

    def test_plan_file(self):
        plan = self.path("plan.json", '{"seq": 64, "micro_batch": 2, "padded": false, "gpu": "rtx4090",'
                                      ' "train": "lora", "lora.targets": ["q", "v"]}')
        words = ["seq=64", "micro_batch=2", "padded=off", "gpu=rtx4090", "train=lora", "lora.targets=q,v"]
        code, out, err = run("predict", LLAVA, *words, "-f", "json")
        self.assertEqual(run("predict", LLAVA, "--plan", plan, "-f", "json"), (code, out, err))
        # words win
        self.assertEqual(self.answer("predict", LLAVA, "-p", self.path("p.json", '{"seq": 32}'), "seq=64"),
                         self.answer("predict", LLAVA, "seq=64"))
        for text, pattern in [
                ('{"seq": 64, "micro_bach": 2}', r"'micro_bach': .*did you mean 'micro_batch'\?.*\(offset 12\)"),
                ('{"seq": "x"}', r"'seq': .*\(offset 1\)"),
                ('{"seq": {"a": 1}}', r"'seq': an object cannot be a setting.*\(offset 8\)"),
                ('{"seq": null}', r"'seq': .*\(offset 8\)"),
                ('{"seq": 1, "seq": 2}', r"'seq': the key stands twice \(offset 11\)"),
                ('[1]', r"a plan is an object, not .*\(offset 0\)"),
                ('{"seq": 64} 1', r".*\(offset 12\)"),
                ('{"lora.targets": ["a,b"]}', r"'lora.targets': .*no commas \(offset 18\)"),
                ('', r".*\(offset 0\)")]:
            self.refused(3, "bad.json: " + pattern, "predict", LLAVA, "--plan", self.path("bad.json", text))
        self.refused(3, "No such file", "predict", LLAVA, "--plan", self.path("none.json"))

    def test_vision_tower_is_passed_on(self):
        self.answer("inspect", LLAVA, "vision_tower=" + self.dir)


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
        bare = json.loads(self.answer("predict", LLAVA_7B + "/config.json", "-f", "json"))
        self.assertEqual(bare["peak"], report["peak"])
        self.assertEqual(bare["components"], report["components"])


unittest.main(verbosity=1)
