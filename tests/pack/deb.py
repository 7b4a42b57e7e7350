#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Debian packages by dpkg-buildpackage from a clean copy; lintian finds no error; unpacked they work.  Skipped
without debhelper.

    deb.py
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

from common import CONFIGS, ROOT, clean, have, must, run, skip, sources

PACKAGES = ["libvramcast-dev", "libvramcast0", "python3-vramcast", "vramcast"]


def build(folder):
    log = os.path.join(folder, "log")
    with open(log, "w", encoding="utf-8") as f:
        code = subprocess.run(["dpkg-buildpackage", "-b", "-us", "-uc", "-j2"], cwd=sources(os.path.join(folder, "src")),
                              env=clean(DEB_BUILD_OPTIONS="noautodbgsym"), stdout=f, stderr=f, check=False).returncode
    with open(log, encoding="utf-8") as f:
        assert not code, f.read()[-4000:]
    return {os.path.basename(p).split("_")[0]: p for p in glob.glob(os.path.join(folder, "*.deb"))}


def works(top):
    """What a user of the four packages has, without installing them here."""
    libraries = os.path.dirname(glob.glob(os.path.join(top, "usr/lib/*/libvramcast.so.0"))[0])
    vramcast = os.path.join(top, "usr/bin/vramcast")
    model = os.path.join(CONFIGS, "tiny-qwen3")
    version = must(vramcast, "--version").split()[1]
    for name in ("man/man1/vramcast.1.gz", "man/man1/vramcast-check.1.gz", "man/man7/vramcast-settings.7.gz",
                 "bash-completion/completions/vramcast", "fish/vendor_completions.d/vramcast.fish",
                 "zsh/vendor-completions/_vramcast"):
        assert os.path.exists(os.path.join(top, "usr/share", name)), name
    flags = must("pkg-config", "--cflags", "--libs", "vramcast", env=clean(
        PKG_CONFIG_PATH=os.path.join(libraries, "pkgconfig"), PKG_CONFIG_SYSROOT_DIR=top)).split()
    program = os.path.join(top, "predict")
    must("cc", os.path.join(ROOT, "examples/c/predict.c"), *flags, "-o", program)
    assert "bytes of tensors" in must(program, model, "seq=64", env=clean(LD_LIBRARY_PATH=libraries))
    python = "/usr/bin/python3"
    if run(python, "-c", "import cffi", env=clean())[0]:
        print("deb: Debian's Python has no cffi: the package for Python was not tried")
        return
    said = must(python, "-c", "import vramcast, sys; print(vramcast.__version__, vramcast.predict(sys.argv[1]))", model,
                env=clean(PYTHONPATH=os.path.join(top, "usr/lib/python3/dist-packages"), LD_LIBRARY_PATH=libraries,
                          VRAMCAST_COMMAND=vramcast))
    assert said.startswith(version + " <Report"), said


def main():
    if not have("dpkg-buildpackage", "dh", "dh_python3", "fakeroot"):
        skip("no debhelper, dh-python or fakeroot")
    with tempfile.TemporaryDirectory() as folder:
        packages = build(folder)
        assert sorted(packages) == PACKAGES, packages
        if have("lintian"):
            found = run("lintian", "--fail-on", "none", "--no-tag-display-limit", *packages.values())[1]
            errors = [line for line in found.splitlines() if line.startswith("E:")]
            print(found, end="")
            # new packages close no bug of Debian's
            errors = [line for line in errors if not re.search("bogus-mail-host|maintainer-address", line)]
            assert not errors, errors
        else:
            print("deb: no lintian")
        top = os.path.join(folder, "root")
        for path in packages.values():
            must("dpkg-deb", "-x", path, top)
        works(top)
    print("deb: %s built and tried" % ", ".join(PACKAGES))
    return 0


sys.exit(main())
