#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every example of a pipeline is run: what fits goes on, what does not stops it.

    examples.py BUILD_DIR

The export is run where this Python, or the one that VRAM_TORCH_PYTHON names, has torch, transformers and onnx; else
with something in its place that writes a graph of one node.
"""
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from common import CONFIGS, LLAVA, ROOT, Case, clean, have, must, package, run

BUILD = os.path.abspath(sys.argv.pop(1))
EXAMPLES = os.path.join(ROOT, "examples")
TOOLS = os.path.join(BUILD, "tools")
SMALL, LARGE = {"seq": 512}, {"seq": 4096, "micro_batch": 16}  # of a 7B model on 80 GB
# ir_version 8, opset 17, Identity of a float x[1]
ONE_NODE = bytes.fromhex("08083a370a10" "0a01781201792208" "4964656e74697479" "12016e"
                         "5a0f0a0178120a0a0808011204" "0a020801" "620f0a0179120a0a0808011204" "0a020801" "42021011")


def env(**more):
    return clean(PATH=TOOLS + os.pathsep + os.environ["PATH"], **more)


class Pipeline(Case):
    def job(self, name, plan, gpu="a100-80g"):
        """A folder with a model's config and a plan."""
        folder = os.path.dirname(self.path(name + "/vramcast.json", json.dumps(dict(plan, gpu=gpu))))
        shutil.copy(os.path.join(LLAVA, "config.json"), folder)
        return folder

    def stand_in(self, name, script):
        """A command that stands first on the PATH."""
        path = self.path("bin/" + name, "#!/bin/sh\n" + script, 0o755)
        return os.path.dirname(path) + os.pathsep + TOOLS + os.pathsep + os.environ["PATH"]


@unittest.skipUnless(have("make"), "no make")
class Make(Pipeline):
    def make(self, folder, *words):
        return run("make", "-C", folder, "-f", os.path.join(EXAMPLES, "make", "Makefile"), "train", "MODEL=.",
                   "PLAN=vramcast.json", "TRAIN=echo trained", *words, env=env())

    def test_training_waits_for_the_answer(self):
        folder = self.job("small", SMALL)
        code, out, _ = self.make(folder)
        self.assertEqual(code, 0)
        self.assertRegex(out, "(?m)^fits +a100-80g")
        with open(os.path.join(folder, "fits-a100-80g.json"), encoding="utf-8") as f:
            self.assertEqual(json.load(f)["verdict"]["result"], "fits")
        code, out, _ = self.make(folder)  # not asked again
        self.assertEqual((code, "fits" in out.replace("fits-", ""), "trained" in out), (0, False, True))
        os.utime(os.path.join(folder, "vramcast.json"), (2**31, 2**31))
        self.assertRegex(self.make(folder)[1], "(?m)^fits +a100-80g")

    def test_training_does_not_start_when_it_does_not_fit(self):
        folder = self.job("large", LARGE)
        code, out, _ = self.make(folder)
        self.assertEqual((code, "does-not-fit" in out, "\ntrained" in out), (2, True, False))
        self.assertEqual(sorted(os.listdir(folder)), ["config.json", "vramcast.json"])


class Export(Pipeline):
    VIT = {"architectures": ["ViTForImageClassification"], "model_type": "vit", "hidden_size": 32, "num_hidden_layers": 2,
           "num_attention_heads": 4, "intermediate_size": 64, "image_size": 32, "patch_size": 8, "num_channels": 3}

    def torch(self):
        python = os.environ.get("VRAM_TORCH_PYTHON", sys.executable)
        return None if not have(python) or run(python, "-c", "import torch, transformers, onnx, onnxscript")[0] else python

    def export(self, *words):
        python = self.torch()
        if not python:
            graph = self.path("graph")
            with open(graph, "wb") as f:
                f.write(ONE_NODE)
            python = self.path("python", '#!/bin/sh\ncp "%s" "$3"\n' % graph, 0o755)
        model = os.path.dirname(self.path("vit/config.json", json.dumps(self.VIT)))
        return run("sh", os.path.join(EXAMPLES, "export", "export.sh"), model, self.path("out"), *words,
                   env=env(PYTHON=python))

    def test_what_fits_is_exported_and_has_a_record(self):
        code, out, err = self.export("gpu=t4-16g", "micro_batch=4")
        self.assertEqual(code, 0, err)
        self.assertRegex(out, "(?m)^fits +t4-16g")
        with open(self.path("out/model.jsonl"), encoding="utf-8") as f:
            record = json.loads(f.read())
        self.assertEqual(record["path"], self.path("out/model.onnx"))
        # a library without a reader of graphs says so: that is a record, too
        self.assertTrue(record["outcome"] in ("ok", "finding") or record["error"]["code"] == "unsupported", record)

    def test_what_does_not_fit_is_not_exported(self):
        code, out, _ = self.export("gpu=p4-8g", "micro_batch=1000000")
        self.assertEqual((code, "does-not-fit" in out, os.path.exists(self.path("out"))), (1, True, False))


class GitHub(Pipeline):
    """The run-lines of the workflow, by bash as the runner does, with a stand-in for the installation."""

    @staticmethod
    def scripts():
        with open(os.path.join(EXAMPLES, "github", "memory.yml"), encoding="utf-8") as f:
            blocks = re.findall(r"(?m)^( +)run: \|\n((?:\1  .*\n)+)", f.read())
        return [re.sub("(?m)^" + indent + "  ", "", text) for indent, text in blocks]

    def run_all(self):
        path = self.stand_in("pip", 'echo "pip $*"\n')
        codes, text = [], ""
        for script in self.scripts():
            code, out, err = run("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script, cwd=self.dir,
                                 env=clean(PATH=path))
            codes.append(code)
            text += out + err
        return codes, text

    def test_jobs_that_fit_pass(self):
        self.job("jobs/small", SMALL)
        codes, text = self.run_all()
        self.assertEqual(codes, [0, 0])
        self.assertIn("pip install ./vramcast", text)
        self.assertIn("::notice", text)

    def test_one_that_does_not_is_an_annotation(self):
        self.job("jobs/small", SMALL)
        self.job("jobs/large", LARGE)
        codes, text = self.run_all()
        self.assertEqual(codes, [0, 1])
        self.assertIn("::error", text)


class PreCommit(Pipeline):
    HOOK = os.path.join(EXAMPLES, "pre-commit", "vramcast-check")

    def test_the_hook_is_that_of_the_manifest(self):
        with open(os.path.join(ROOT, ".pre-commit-hooks.yaml"), encoding="utf-8") as f:
            text = f.read()
        self.assertEqual(os.path.join(ROOT, re.search("entry: (.*)", text).group(1)), self.HOOK)
        pattern = re.search("files: (.*)", text).group(1)
        self.assertTrue(re.search(pattern, "jobs/a/vramcast.json") and re.search(pattern, "config.json"))
        self.assertFalse(re.search(pattern, "jobs/myconfig.json"))

    def test_only_folders_of_jobs_are_checked(self):
        small, large = self.job("small", SMALL), self.job("large", LARGE)
        other = self.path("other/config.json", "{}")
        self.assertEqual(run(self.HOOK, small + "/config.json", small + "/vramcast.json", other, env=env()), (0, "", ""))
        code, out, _ = run(self.HOOK, small + "/config.json", large + "/vramcast.json", env=env())
        self.assertEqual((code, out.count("does-not-fit")), (1, 1))
        self.assertTrue(out.startswith(large))
        code, _, err = run("/bin/sh", self.HOOK, other, env=clean(PATH=self.path("empty")))
        self.assertNotEqual(code, 0)

    @unittest.skipUnless(have("pre-commit", "git"), "no pre-commit")
    def test_pre_commit_runs_it(self):
        repository = self.path("repository")
        os.makedirs(repository)
        must("git", "init", "-q", repository)
        hooks = self.path("hooks")  # as another repository has it
        for name in (".pre-commit-hooks.yaml", "examples/pre-commit/vramcast-check"):
            os.makedirs(os.path.dirname(os.path.join(hooks, name)), exist_ok=True)
            shutil.copy(os.path.join(ROOT, name), os.path.join(hooks, name))
        must("git", "init", "-q", hooks)
        who = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
        must("git", "-C", hooks, "add", "-A")
        must("git", "-C", hooks, *who, "commit", "-qm", "hooks")
        home = env(HOME=self.dir)
        for name, plan, code in (("small", SMALL, 0), ("large", LARGE, 1)):
            self.job("repository/" + name, plan)
            must("git", "-C", repository, "add", "-A")
            self.assertEqual(run("pre-commit", "try-repo", hooks, "vramcast-check", "--all-files", cwd=repository,
                                 env=home)[0], code)


class Slurm(Pipeline):
    SCRIPT = os.path.join(EXAMPLES, "slurm", "taskprolog.sh")

    def prolog(self, card="NVIDIA A100-SXM4-80GB", **more):
        path = self.stand_in("nvidia-smi", "echo '%s'\n" % card if card else "exit 9\n")
        return run("sh", self.SCRIPT, env=clean(VRAMCAST_PATH=path, SLURM_LOCALID="0", SLURM_NTASKS="1", **more))

    def test_a_job_that_says_nothing_or_fits_starts(self):
        self.assertEqual(self.prolog(), (0, "", ""))
        folder = self.job("small", {})
        code, out, _ = self.prolog(VRAMCAST_MODEL=folder, VRAMCAST_WORDS="seq=512")
        self.assertEqual(code, 0)
        self.assertTrue(all(line.startswith("print vramcast: ") for line in out.splitlines()))
        self.assertIn("fits", out)

    def test_a_job_that_does_not_fit_does_not_start(self):
        folder = self.job("large", LARGE)
        plan = folder + "/vramcast.json"
        code, out, _ = self.prolog(VRAMCAST_MODEL=folder, VRAMCAST_PLAN=plan)
        self.assertEqual(code, 1)
        self.assertIn("print vramcast: does-not-fit", out)
        other = clean(VRAMCAST_PATH=TOOLS + ":/usr/bin:/bin", SLURM_LOCALID="1", VRAMCAST_MODEL=folder)
        self.assertEqual(run("sh", self.SCRIPT, env=other), (0, "", ""))  # another task of the node asks

    def test_what_runs_on_more_cards_is_planned_for_them(self):
        settings = self.path("zero3.json", json.dumps({"zero_optimization": {"stage": 3}, "bf16": {"enabled": True},
                                                       "train_micro_batch_size_per_gpu": 1}))
        words = {"VRAMCAST_MODEL": self.job("many", {}), "VRAMCAST_SETTINGS": settings, "VRAMCAST_GPU": "a100-40g",
                 "VRAMCAST_WORDS": "seq=512"}
        self.assertEqual(self.prolog(**words)[0], 1)
        code, out, err = run("sh", self.SCRIPT, env=clean(VRAMCAST_PATH=TOOLS + ":/usr/bin:/bin", SLURM_NTASKS="16",
                                                          **words))
        self.assertEqual((code, err), (0, ""), out)
        self.assertIn("fits", out)

    def test_its_own_trouble_stops_no_job(self):
        code, out, _ = self.prolog(VRAMCAST_MODEL=self.path("none"))
        self.assertEqual(code, 0)
        self.assertIn("none", out)
        code, out, _ = self.prolog(card="", VRAMCAST_MODEL=self.job("small", SMALL))
        self.assertEqual(code, 0)
        self.assertIn("no card", out)


@unittest.skipUnless(importlib.util.find_spec("cffi"), "no cffi")
class Python(Pipeline):
    def python(self, name, *words):
        if not os.path.exists(self.path("vramcast")):
            self.package = package(BUILD, self.dir)
        return run(sys.executable, os.path.join(EXAMPLES, name), *words, env=env(**self.package))

    def test_the_launcher_starts_what_fits(self):
        words = [os.path.join(LLAVA, "config.json"), "--gpu", "a100-80g"]
        code, out, err = self.python("python/launch.py", *words, "--set", "seq=512", "--", "echo", "trained", "--x")
        self.assertEqual((code, out), (0, "trained --x\n"))
        self.assertIn("a100-80g: fits", err)
        code, out, err = self.python("python/launch.py", *words, "--set", "seq=4096", "--set", "micro_batch=16", "--",
                                     "echo", "trained")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("it would with", err)
        code, _, err = self.python("python/launch.py", self.path("none"), "--gpu", "a100-80g", "--", "true")
        self.assertEqual(code, 1)
        self.assertIn("launch.py: ", err)

    def test_processes_give_a_row_each(self):
        code, out, err = self.python("scan/processes.py", CONFIGS, "seq=64", "gpu=rtx4090")
        self.assertEqual(code, 0, err)
        rows = [line.split("\t") for line in out.splitlines()]
        shown = [json.loads(line) for line in must("vramcast", "scan", CONFIGS, "seq=64", "gpu=rtx4090",
                                                   env=env()).splitlines()]
        self.assertEqual([r[0] for r in rows], [s["path"] for s in shown])
        for row, record in zip(rows, shown):
            if record["verdict"] and record["peak"]:
                self.assertEqual(row[1:], [record["verdict"], str(record["peak"]["device"]["expected"])])


class Parallel(Pipeline):
    def lines(self, **more):
        script = os.path.join(EXAMPLES, "scan", "parallel.sh")
        return sorted(must("sh", script, CONFIGS, "2", "seq=64", "gpu=rtx4090", env=dict(env(), **more)).splitlines())

    def test_records_are_those_of_one_scan(self):
        one = sorted(must("vramcast", "scan", CONFIGS, "seq=64", "gpu=rtx4090", env=env()).splitlines())
        self.assertEqual(self.lines(HOME=self.dir), one)
        if have("parallel"):  # then the form with xargs has not been tried yet
            tools = self.path("tools")
            os.makedirs(tools)
            for name in ("sh", "find", "sed", "tr", "xargs", "cat", "mktemp", "rm", "printf"):
                os.symlink(shutil.which(name), os.path.join(tools, name))
            os.symlink(os.path.join(TOOLS, "vramcast"), os.path.join(tools, "vramcast"))
            self.assertEqual(self.lines(PATH=tools), one)


class Shell(Case):
    @unittest.skipUnless(have("shellcheck"), "no shellcheck")
    def test_scripts_are_clean(self):
        scripts = [os.path.join(f, n) for f, _, names in os.walk(EXAMPLES) for n in names
                   if n.endswith(".sh") or n == "vramcast-check"]
        self.assertGreater(len(scripts), 3)
        done = subprocess.run(["shellcheck"] + scripts, capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
