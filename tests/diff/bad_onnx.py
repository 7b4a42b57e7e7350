# SPDX-License-Identifier: Apache-2.0
"""bad_onnx.py VRAMCAST: hostile and odd ONNX files.

What expected.csv says of a file: `error` is refused with exit 3 and one line; `finding` is answered with a warning;
`ok` is answered without one.  None takes more than 64 MiB (four times that under a sanitizer, whose own memory counts) or hangs, the files that
amplify memory included.
"""
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor

from common import finish, shared

MIB, SECONDS = 64, 60 # a hang, not a time
# the description calls another outcome defensible
ALSO = {"nest/if_depth_0100.onnx": "ok"}


def run(command, path):
    """Exit code, output, error, MiB, seconds."""
    with open(path + ".out", "w+b") as out, tempfile.TemporaryFile() as err:
        begun = time.monotonic()
        child = subprocess.Popen([command, "shapes", path, "--format", "json"], stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        spent = time.monotonic() - begun
        child.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        said = err.read().decode("utf-8", "replace")
    return child.returncode, path + ".out", said, usage.ru_maxrss / 1024, spent


def wrong(expected, code, out, err):
    if expected == "error":
        if code != 3 or os.path.getsize(out) or len(err.splitlines()) != 1:
            return "exit %d, %d bytes of output, %r" % (code, os.path.getsize(out), err[:200])
        return None
    if code != 0:
        return "exit %d: %s" % (code, err.strip()[:300])
    with open(out, "rb") as answer:
        findings = json.load(answer)["findings"]
    warnings = [f for f in findings if f["severity"] == "warn"]
    if expected == "finding":
        return None if warnings else "no warning"
    return "warns: %s" % warnings if warnings else None


def main():
    command, total, right, most = sys.argv[1], 0, 0, 0
    with open(command, "rb") as program:
        cap = MIB * 4 if b"__asan_init" in program.read() else MIB
    # answers are read elsewhere: what this process takes would be counted with what it starts
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(1) as reader:
        reader.submit(int).result()
        bad = os.path.join(folder, "bad")
        shutil.copytree(shared("corpus-bad"), bad)
        if not os.path.lexists(os.path.join(bad, "ext", "link.bin")):
            os.symlink("../base_ok.onnx", os.path.join(bad, "ext", "link.bin"))
        rows = [(r["file"], r["expected"]) for r in csv.DictReader(open(os.path.join(bad, "expected.csv")))]
        for kind in ("tensor", "node", "input"):
            name = "amplify_%s.onnx" % kind
            subprocess.run([sys.executable, os.path.join(bad, "make_amplifier.py"), os.path.join(bad, name), "10", kind],
                           check=True, stdout=subprocess.DEVNULL)
            rows.append((name, "error or finding"))
        for name, expected in rows:
            code, out, err, mib, spent = run(command, os.path.join(bad, name))
            ways = expected.split(" or ") + ([ALSO[name]] if name in ALSO else [])
            said = [reader.submit(wrong, way, code, out, err).result() for way in ways]
            problem = None if None in said else said[0]
            if mib > cap or spent > SECONDS:
                problem = "%.0f MiB, %.1f s" % (mib, spent)
            most = max(most, mib)
            total += 1
            right += problem is None
            if problem:
                print("%s (%s): %s" % (name, expected, problem))
    print("at most %.1f MiB" % most)
    finish("bad ONNX files", right, total)


main()
