# SPDX-License-Identifier: Apache-2.0
"""What the tests of the package share: places, processes, skipping, an installed copy."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
CONFIGS = os.path.join(ROOT, "fixtures", "configs")
LLAVA = os.path.join(ROOT, "fixtures", "checkpoints", "llava-1.5-7b-hf")
SKIP = 77


def run(*words, **more):
    """A process: exit code, standard output, standard error."""
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False, **more)
    return done.returncode, done.stdout, done.stderr


def must(*words, **more):
    """A process that has to succeed; its standard output."""
    code, out, err = run(*words, **more)
    if code:
        raise AssertionError("%s: exit code %d\n%s%s" % (" ".join(map(str, words)), code, out[-2000:], err[-4000:]))
    return out


def skip(why):
    print("skipped: " + why)
    sys.exit(SKIP)


def clean(**more):
    """An environment in which nobody's settings help; values of None are left out."""
    kept = {k: v for k, v in os.environ.items()
            if not k.startswith(("LC_", "LANG", "VRAMCAST", "SLURM_", "PYTHON", "PKG_CONFIG"))}
    kept.update(more)
    return {k: v for k, v in kept.items() if v is not None}


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = os.path.realpath(folder.name)

    def path(self, name, text=None, mode=None):
        path = os.path.join(self.dir, name)
        if text is not None:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        if mode:
            os.chmod(path, mode)
        return path


def install(build, folder):
    """`meson install` into folder/stage (DESTDIR); the root of what a user would see as /."""
    stage = os.path.join(folder, "stage")
    must("meson", "install", "-C", build, "--no-rebuild", env=clean(DESTDIR=stage))
    return stage


def find(top, name):
    """Paths below top of files of that name."""
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(top) if name in names)


def have(*commands):
    return all(shutil.which(c) for c in commands)


def sources(folder):
    """A copy of what git would commit: a clean checkout, with what is not committed yet."""
    names = must("git", "-C", ROOT, "ls-files", "-z", "-co", "--exclude-standard").split("\0")
    for name in filter(None, names):
        if os.path.isfile(os.path.join(ROOT, name)):
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            shutil.copy2(os.path.join(ROOT, name), os.path.join(folder, name))
    return folder


def package(build, folder):
    """The Python package in a folder, with a build's library: the environment that uses it."""
    made = shutil.copytree(os.path.join(ROOT, "python", "vramcast"), os.path.join(folder, "vramcast"),
                           ignore=shutil.ignore_patterns("__pycache__", "_cdef.py"))
    must(sys.executable, os.path.join(ROOT, "python", "cdef.py"), os.path.join(ROOT, "src/include/vram/vram.h"),
         os.path.join(made, "_cdef.py"))
    return {"PYTHONPATH": folder, "VRAMCAST_LIBRARY": os.path.join(build, "src", "api", "libvramcast.so"),
            "VRAMCAST_COMMAND": os.path.join(build, "tools", "vramcast")}
