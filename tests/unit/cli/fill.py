# SPDX-License-Identifier: Apache-2.0
"""fill.py VRAMCAST: copies of ONNX files with their shapes declared.

Of every file of the loader's corpus that opens: the copy has the same values with the same shapes, is longer by its
declarations only, and declares nothing that does not follow and was not declared before.
"""
import json
import os
import subprocess
import sys
import tempfile

CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "fuzz", "corpus", "onnx")


def shapes(command, path):
    done = subprocess.run([command, "shapes", path, "--claims", "--format", "json"], capture_output=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def key(claim):
    return claim["tensor"], claim["says"], claim["wrong"]


def check(command, path, copy):
    before = shapes(command, path)
    if before is None:
        return None
    done = subprocess.run([command, "shapes", path, "--fill", copy], capture_output=True, text=True)
    with open(path, "rb") as f:
        packed = f.read(2) == b"\x1f\x8b"
    if packed:
        return "" if done.returncode == 3 else "a packed file is copied"
    if done.returncode:
        return done.stderr.strip()
    after = shapes(command, copy)
    if after is None or after["tensors"] != before["tensors"]:
        return "the copy has other shapes"
    if {key(c) for c in after["claims"]} - {key(c) for c in before["claims"]}:
        return "the copy claims what does not follow"
    declared = int(done.stdout.split()[0])
    longer = os.path.getsize(copy) - os.path.getsize(path)
    if (declared == 0) != (longer <= 8):
        return "%d declared, %d bytes longer" % (declared, longer)
    return ""


def main():
    wrong = copied = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in sorted(os.listdir(CORPUS)):
            said = check(sys.argv[1], os.path.join(CORPUS, name), os.path.join(folder, "copy.onnx"))
            copied += said is not None
            if said:
                print("%s: %s" % (name, said))
                wrong += 1
    print("fill: %d files, %d wrong" % (copied, wrong))
    sys.exit(wrong > 0 or copied < 20)


main()
