#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scan from outside: every path has a record; threads, shards, lists, kills and --resume change nothing.

    scans.py VRAMCAST
"""
import csv
import json
import os
import pty
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

VRAMCAST = os.path.abspath(sys.argv.pop(1))
ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
CONFIGS = os.path.join(ROOT, "fixtures", "configs")
PLAN = ["seq=64", "gpu=rtx4090"]


def scan(*words, **more):
    done = subprocess.run([VRAMCAST, "scan"] + list(words), capture_output=True, check=False, **more)
    return done.returncode, done.stdout, done.stderr.decode()


def read(path):
    with open(path, "rb") as f:
        return f.read()


def records(out):
    return [json.loads(line) for line in out.splitlines()]


class Scan(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = os.path.realpath(folder.name)
        self.zoo = os.path.join(self.dir, "zoo")
        for i, name in enumerate(sorted(os.listdir(CONFIGS)) * 3):
            shutil.copytree(os.path.join(CONFIGS, name), os.path.join(self.zoo, str(i % 5), "%02d-%s" % (i, name)))

    def file(self, name, text=""):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def test_records_do_not_depend_on_threads_or_shards(self):
        code, one, _ = scan(self.zoo, *PLAN, "-j1")
        self.assertEqual(code, 0)
        paths = [r["path"] for r in records(one)]
        self.assertEqual(len(paths), sum("config.json" in files for _, _, files in os.walk(self.zoo)))
        self.assertEqual(paths, sorted(paths, key=lambda p: p.encode().split(b"/")))
        self.assertEqual(scan(self.zoo, *PLAN, "-j7")[1], one)
        shards = [scan(self.zoo, *PLAN, "--shard", "%d/3" % k)[1].splitlines() for k in (1, 2, 3)]
        self.assertEqual(sorted(sum(shards, [])), sorted(one.splitlines()))
        self.assertGreater(sum(map(bool, shards)), 1)
        listed = scan("--stdin", *PLAN, input="\n".join(paths).encode())
        self.assertEqual(listed[1], one)

    def test_a_record_is_the_prediction(self):
        for r in records(scan(self.zoo, *PLAN)[1])[:5]:
            out = subprocess.run([VRAMCAST, "predict", r["path"], *PLAN, "--format", "json"],
                                 capture_output=True, check=False).stdout
            report = json.loads(out)
            self.assertEqual(r["schema"], "vramcast.scan/1")
            for meter in ("allocated", "reserved", "device"):
                self.assertEqual(r["peak"][meter], report["peak"][meter])
            self.assertEqual(r["verdict"], report["verdict"]["result"])
            self.assertEqual(r["model"]["parameters"], report["model"]["parameters"]["total"])

    def test_what_is_wrong_is_a_record(self):
        self.file("bad/broken/config.json", "{\"model_type\": \"llama\",")
        self.file("bad/broken/model.safetensors", "short")
        self.file("bad/unknown/config.json", "{\"model_type\": \"nobody\"}")
        self.file("bad/empty.onnx")
        os.symlink("..", os.path.join(self.dir, "bad", "loop"))
        os.symlink("nowhere", os.path.join(self.dir, "bad", "model.safetensors"))
        os.mkfifo(os.path.join(self.dir, "bad", "pipe.onnx"))
        code, out, err = scan(os.path.join(self.dir, "bad"), os.path.join(self.dir, "not-there"), timeout=20)
        self.assertEqual((code, err), (0, ""))
        got = {os.path.relpath(r["path"], self.dir): r for r in records(out)}
        self.assertEqual(sorted(got), ["bad", "bad/broken", "bad/empty.onnx", "bad/unknown", "not-there"])
        self.assertEqual(got["bad/broken"]["outcome"], "error")
        self.assertEqual(got["bad/unknown"]["outcome"], "unknown")
        self.assertEqual(got["not-there"]["error"]["code"], "notfound")

    def test_links_are_followed_once(self):
        outside = os.path.join(self.dir, "outside", "model")
        shutil.copytree(os.path.join(CONFIGS, "tiny-qwen3"), outside)
        os.symlink(os.path.join(self.dir, "outside"), os.path.join(self.zoo, "linked"))
        os.symlink(self.zoo, os.path.join(self.dir, "outside", "back"))
        os.symlink(os.path.join(self.zoo, "0"), os.path.join(self.zoo, "again"))
        paths = [r["path"] for r in records(scan(self.zoo, *PLAN)[1])]
        self.assertIn(os.path.join(self.zoo, "linked", "model"), paths)
        self.assertFalse([p for p in paths if "/back/" in p or "/again/" in p])

    def test_killed_and_resumed_is_the_same(self):
        out, whole = os.path.join(self.dir, "out.jsonl"), os.path.join(self.dir, "whole.jsonl")
        self.assertEqual(scan(self.zoo, *PLAN, "-o", whole, "--resume")[0], 0)
        random.seed(7)
        for how in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM) * 4:
            one = subprocess.Popen([VRAMCAST, "scan", self.zoo, *PLAN, "-o", out, "--resume", "-j2"],
                                   stderr=subprocess.DEVNULL)
            time.sleep(random.random() * 0.06)
            one.send_signal(how)
            one.wait(10)
        with open(out, "ab") as f:
            f.write(b'{"schema":"vramcast.scan/1","path":"half a li')
        self.assertEqual(scan(self.zoo, *PLAN, "-o", out, "--resume")[0], 0)
        with open(out, "rb") as a, open(whole, "rb") as b:
            self.assertEqual(a.read(), b.read())

    def test_resume_makes_what_has_changed(self):
        out = os.path.join(self.dir, "out.jsonl")
        words = [self.zoo, "-o", out, "--resume"]
        scan(*words, *PLAN)
        before = records(read(out))
        gone, changed = before[0]["path"], before[1]["path"]
        shutil.rmtree(gone)
        config = os.path.join(changed, "config.json")
        with open(config, encoding="utf-8") as f:
            text = f.read()
        with open(config, "w", encoding="utf-8") as f:
            f.write(text.replace("{", "{\n ", 1))
        with open(out, "r+b") as f: # what is kept is copied, not made again
            data = f.read().replace(b'"outcome":"finding"', b'"outcome":"findinG"')
            f.seek(0)
            f.write(data)
        scan(*words, *PLAN)
        after = records(read(out))
        self.assertEqual([r["path"] for r in after], [r["path"] for r in before[1:]])
        self.assertNotEqual(after[0]["stamp"], before[1]["stamp"])
        self.assertNotEqual(after[0]["outcome"], "findinG")
        self.assertTrue(all(r["outcome"] in ("findinG", "ok", "unknown") for r in after[1:]))
        scan(*words, "seq=32", "gpu=rtx4090") # other settings: all of them
        self.assertFalse([r for r in records(read(out)) if r["outcome"] == "findinG"])

    def test_interrupted_leaves_whole_records(self):
        out = os.path.join(self.dir, "out.jsonl")
        one = subprocess.Popen([VRAMCAST, "scan", self.zoo, *PLAN, "-o", out, "-j1"])
        time.sleep(0.05)
        one.send_signal(signal.SIGINT)
        self.assertIn(one.wait(10), (130, 0))
        data = read(out)
        self.assertTrue(not data or data.endswith(b"\n"))
        records(data)

    def test_a_list_is_answered_line_by_line(self):
        paths = [r["path"] for r in records(scan(self.zoo, *PLAN)[1])][:3]
        one = subprocess.Popen([VRAMCAST, "scan", "--stdin", *PLAN], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
        late = threading.Timer(20, one.kill)
        late.start()
        for path in paths: # the answer comes before the next question
            one.stdin.write(path.encode() + b"\n")
            one.stdin.flush()
            self.assertEqual(json.loads(one.stdout.readline())["path"], path)
        one.stdin.close()
        self.assertEqual(one.wait(10), 0)
        late.cancel()
        one.stdout.close()

    def test_forms(self):
        self.file("zoo/|<b>,\"x\"/config.json", "{\"model_type\": \"a|b<c\"}")
        n = len(records(scan(self.zoo, *PLAN)[1]))
        rows = list(csv.DictReader(scan(self.zoo, *PLAN, "-f", "csv")[1].decode().splitlines()))
        self.assertEqual(len(rows), n)
        self.assertIn("unknown", {r["outcome"] for r in rows})
        self.assertEqual(len(scan(self.zoo, *PLAN, "-f", "md")[1].decode().splitlines()), n + 2)
        page = scan(self.zoo, *PLAN, "-f", "html")[1].decode()
        self.assertEqual(page.count("<tr class="), n)
        self.assertNotIn("<b>", page)
        base = os.path.join(self.dir, "zoo.db")
        code, _, err = scan(self.zoo, *PLAN, "-f", "sqlite", "-o", base)
        if "without sqlite" in err:
            self.skipTest("built without sqlite")
        self.assertEqual(code, 0)
        with sqlite3.connect(base) as db:
            got = db.execute("select count(*), sum(device is null) from models").fetchone()
        self.assertEqual(got, (n, 1))
        db.close()

    def test_progress_only_on_a_terminal(self):
        self.assertEqual(scan(self.zoo, *PLAN)[2], "")
        leader, follower = pty.openpty()
        subprocess.run([VRAMCAST, "scan", self.zoo, *PLAN, "-o", os.path.join(self.dir, "o")], stderr=follower,
                       check=True)
        os.close(follower)
        shown = os.read(leader, 65536).decode()
        os.close(leader)
        self.assertRegex(shown, r"\d+ models  \d+/s")

    def test_usage(self):
        for words in ([], ["x", "--stdin"], ["x", "--shard", "4/3"], ["x", "--shard", "0/3"], ["x", "-f", "toml"],
                      ["x", "--resume"], ["x", "-f", "sqlite"], ["x", "nokey=1"]):
            self.assertEqual(scan(*words, stdin=subprocess.DEVNULL)[0], 2, words)
        self.assertEqual(scan(self.zoo, "-o", os.path.join(self.dir, "no", "where"))[0], 5)
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([VRAMCAST, "scan", self.zoo], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 5)


if __name__ == "__main__":
    unittest.main()
