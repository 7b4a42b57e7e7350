# SPDX-License-Identifier: Apache-2.0
"""bad.py VRAMCAST: broken directories.

What a directory's expected.json says: `error` is refused with one line that names the file and, where
given, the tensor or key; `finding` is an answer with a warning that names the same; `ok` is an answer
without one.  Adapters and pickles without safetensors are not read yet.
"""
import json
import os
import subprocess
import sys
import tempfile

from common import Command, finish, shared

LATER = ("adapter-", "only-bin")


def named(case, text):
    """What the message should name and does not."""
    wanted = [os.path.basename(case[k]) if k == "file" else case[k]
              for k in ("file", "tensor", "key") if case.get(k)]
    return [w for w in wanted if w not in text]


def as_error(case, done):
    lines = done.stderr.splitlines()
    if done.returncode != 3:
        return "exit %d, not 3: %s" % (done.returncode, done.stderr.strip()[:200])
    if done.stdout or len(lines) != 1:
        return "%d lines of error, %d bytes of output" % (len(lines), len(done.stdout))
    missing = named(case, lines[0])
    return missing and "%s is not named in: %s" % (missing, lines[0])


def as_finding(case, done):
    if done.returncode not in (0, 4):
        return "exit %d: %s" % (done.returncode, done.stderr.strip()[:200])
    report = json.loads(done.stdout)
    if (report["peak"] is None) != (done.returncode == 4):
        return "exit %d, but the peak says otherwise" % done.returncode
    warnings = [f["subject"] + " " + f["text"] for f in report["findings"] if f["severity"] == "warn"]
    if not warnings:
        return "no warning"
    best = min((named(case, w) for w in warnings), key=len)
    return best and "%s is not named in: %s" % (best, warnings)


def as_ok(case, done):
    if done.returncode != 0:
        return "exit %d: %s" % (done.returncode, done.stderr.strip()[:200])
    warnings = [f for f in json.loads(done.stdout)["findings"] if f["severity"] == "warn"]
    return warnings and "warns: %s" % warnings


JUDGES = {"error": as_error, "finding": as_finding, "ok": as_ok}


def main():
    command = Command(sys.argv[1])
    right = total = 0
    with tempfile.TemporaryDirectory() as work:
        subprocess.run([sys.executable, shared("checkpoints", "materialize.py"), "--bad", work],
                       check=True, capture_output=True)
        for name in sorted(os.listdir(work)):
            if name.startswith(LATER):
                continue
            case = json.load(open(os.path.join(work, name, "expected.json")))
            path = os.path.join(work, name, "dir", case.get("point_at", ""))
            done = command.run("predict", path, "micro_batch=1", "--format", "json")
            wrong = [JUDGES[o](case, done) for o in (case["outcome"], case.get("also_allowed")) if o]
            total += 1
            right += not all(wrong)
            if all(wrong):
                print(name, "%s:" % case["outcome"], wrong[0])
    finish("broken directories answered as they should be", right, total)


main()
