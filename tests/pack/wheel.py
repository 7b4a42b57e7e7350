#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`pip wheel` from a clean copy of the sources, installed in a clean environment; there tests/pack/python.py and
mypy pass, and the command is there.  Skipped without pip or where no packages can be had.

    wheel.py
"""
import os
import re
import subprocess
import sys
import tempfile
import zipfile

from common import CONFIGS, ROOT, clean, must, run, skip, sources

PINS = os.path.join(ROOT, "tests", "pack", "requirements.txt")
WANTED = {"cffi", "pandas", "numpy", "mypy"}
TYPED = """
import vramcast
report: vramcast.Report = vramcast.predict("m", {"micro_batch": 8})
size: int = report.device.expected
wrong: str = report.device.expected
"""


def environment(folder):
    python = os.path.join(folder, "venv", "bin", "python")
    code, _, err = run(sys.executable, "-m", "venv", os.path.join(folder, "venv"))
    if code:
        skip("no venv: " + err.strip().splitlines()[-1])
    with open(PINS, encoding="utf-8") as f:
        pins = [line for line in f.read().splitlines() if re.split("==", line)[0] in WANTED]
    code, _, err = run(python, "-m", "pip", "install", "-q", *pins, timeout=600)
    if code:
        skip("packages cannot be had: " + err.strip().splitlines()[-1])
    return python


def build(python, folder):
    must(python, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, sources(os.path.join(folder, "sources")),
         env=clean(PIP_CONSTRAINT=PINS), cwd=folder)
    name, = [n for n in os.listdir(folder) if n.endswith(".whl")]
    assert re.fullmatch(r"vramcast-[0-9.]+-py3-none-linux_\w+\.whl", name), name
    names = zipfile.ZipFile(os.path.join(folder, name)).namelist()
    for part in ("/scripts/vramcast", "libvramcast.so", "vramcast/py.typed", "vramcast/_cdef.py", "LICENSE"):
        assert any(part in n for n in names), part
    extra = [n for n in names if n.endswith((".h", ".a", ".pc", ".1", ".o"))]
    assert not extra, extra
    return os.path.join(folder, name)


def main():
    with tempfile.TemporaryDirectory() as folder:
        python = environment(folder)
        must(python, "-m", "pip", "install", "-q", "--no-deps", build(python, folder))
        must(python, "-m", "pip", "check")
        home = clean(PATH=os.path.dirname(python) + os.pathsep + os.environ["PATH"])
        version = must("vramcast", "--version", env=home, cwd=folder).split()[1]
        assert must(python, "-c", "import vramcast; print(vramcast.__version__)", env=home, cwd=folder).strip() == version
        assert "at the peak" in must("vramcast", "predict", os.path.join(CONFIGS, "tiny-qwen3"), "seq=64", env=home, cwd=folder)

        done = subprocess.run([python, os.path.join(ROOT, "tests", "pack", "python.py"), "-v"], env=home, cwd=folder,
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0 and "frame" in done.stderr, done.stderr[-4000:]
        assert not re.search("frame.*skipped", done.stderr), done.stderr[-4000:]

        must(python, "-m", "mypy", "--strict", "--ignore-missing-imports", "-p", "vramcast", env=home, cwd=folder)
        with open(os.path.join(folder, "user.py"), "w", encoding="utf-8") as f:
            f.write(TYPED)
        code, out, _ = run(python, "-m", "mypy", "--strict", "user.py", env=home, cwd=folder)
        assert code == 1 and out.count("error:") == 1 and 'expression has type "int"' in out, out
    print("wheel: built, installed, imported, typed")


main()
