#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `meson install` leaves behind, with DESTDIR: files, soname, symbols, pkg-config, C programs, man pages.

    install.py BUILD_DIR
"""
import json
import os
import re
import shlex
import sys
import tempfile
import unittest

from common import CONFIGS, LLAVA, ROOT, Case, clean, find, have, install, must, run

BUILD = os.path.abspath(sys.argv.pop(1))
STAGE = tempfile.TemporaryDirectory()
TOP = install(BUILD, STAGE.name)
CC = shlex.split(os.environ.get("CC", "cc"))
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def only(name):
    found = find(TOP, name)
    assert len(found) == 1, "%s: %s" % (name, found)
    return found[0]


VRAMCAST = [p for p in find(TOP, "vramcast") if os.path.basename(os.path.dirname(p)) == "bin"][0]
LIBRARIES = os.path.dirname(only("libvramcast.so.0"))


def tables(name):
    return json.loads(must(VRAMCAST, "list", name, "-f", "json"))["rows"]


class Library(Case):
    def test_names_of_the_library_lead_to_one_file(self):
        version = must(VRAMCAST, "--version").split()[1]
        real = os.path.join(LIBRARIES, "libvramcast.so." + version)
        self.assertTrue(os.path.isfile(real) and not os.path.islink(real))
        for name in ("libvramcast.so", "libvramcast.so.0"):
            self.assertEqual(os.path.realpath(os.path.join(LIBRARIES, name)), os.path.realpath(real))
        self.assertIn("soname: [libvramcast.so.0]", must("readelf", "-d", real))

    def test_symbols_are_those_of_the_list(self):
        with open(os.path.join(ROOT, "tests", "headers", "symbols.txt"), encoding="utf-8") as f:
            listed = f.read().split()
        shown = must("nm", "-D", "--defined-only", os.path.join(LIBRARIES, "libvramcast.so.0"))
        self.assertEqual(sorted(line.split()[-1] for line in shown.splitlines()), sorted(listed))
        # whoever includes the installed header gets nothing that the library does not have
        with open(only("vram.h"), encoding="utf-8") as f:
            header = f.read()
        for name in listed:
            self.assertIn(name + "(", header)

    def test_the_header_is_that_of_the_sources(self):
        with open(only("vram.h"), "rb") as a, open(os.path.join(ROOT, "src/include/vram/vram.h"), "rb") as b:
            self.assertEqual(a.read(), b.read())


class Programs(Case):
    """examples/c, with nothing but what pkg-config says about the installed copy."""

    def pkg_config(self, *words):
        folder = os.path.dirname(only("vramcast.pc"))
        return shlex.split(must("pkg-config", *words, "vramcast", env=clean(
            PKG_CONFIG_PATH=folder, PKG_CONFIG_SYSROOT_DIR=TOP)))

    def compile(self, name, *flags):
        out = self.path(name)
        must(*CC, *STRICT, os.path.join(ROOT, "examples", "c", name + ".c"), *flags, "-o", out)
        return out

    def shared(self, name):
        program = self.compile(name, *self.pkg_config("--cflags", "--libs"), "-pthread")
        self.assertIn("libvramcast.so.0", must("readelf", "-d", program))
        return [program], clean(LD_LIBRARY_PATH=LIBRARIES)

    def test_versions_agree(self):
        self.assertEqual(self.pkg_config("--modversion"), [must(VRAMCAST, "--version").split()[1]])

    def test_predict_says_what_the_command_says(self):
        words = [os.path.join(CONFIGS, "tiny-llava-1.5"), "micro_batch=2", "seq=64"]
        report = json.loads(must(VRAMCAST, "predict", *words, "-f", "json"))
        program, env = self.shared("predict")
        out = must(*program, *words, env=env)
        self.assertIn("%d bytes of tensors" % report["peak"]["allocated"]["expected"], out)
        for c in report["components"]:
            self.assertRegex(out, r"%s +parameters %d " % (c["name"], c["parameters"]["bytes"]))
        code, _, err = run(*program, words[0], "micro_batch=none", env=env)
        self.assertEqual(code, 1)
        self.assertIn("micro_batch", err)

    def test_the_archive_serves_as_well(self):
        static = [f if f != "-lvramcast" else os.path.join(LIBRARIES, "libvramcast.a")
                  for f in self.pkg_config("--cflags", "--static", "--libs")]
        program = self.compile("predict", *static)
        self.assertNotIn("libvramcast", must("readelf", "-d", program))
        self.assertIn("bytes of tensors", must(program, os.path.join(CONFIGS, "tiny-qwen3"), "seq=64", env=clean()))

    def test_a_sweep_does_not_depend_on_threads(self):
        program, env = self.shared("sweep")
        lengths = [str(n) for n in range(16, 1040, 32)]
        one = must(*program, LLAVA + "/config.json", "1", *lengths, env=env)
        self.assertEqual(one.count("\n"), len(lengths))
        self.assertEqual(must(*program, LLAVA + "/config.json", "4", *lengths, env=env), one)
        code, out, _ = run(*program, LLAVA + "/config.json", "2", "64", "x", env=env)
        self.assertEqual(code, 1)
        self.assertEqual(out.splitlines()[0].split()[0], "seq=64")


class Manuals(Case):
    def page(self, name):
        with open(only(name), encoding="utf-8") as f:
            return f.read().replace("\\-", "-")

    def test_every_command_and_option_has_its_place(self):
        main = self.page("vramcast.1")
        for command in tables("commands"):
            self.assertIn("\\fB%s\\fR" % command["name"], main)
            page = self.page("vramcast-%s.1" % command["name"])
            for flag in tables("flags"):
                if flag["command"] == command["name"]:
                    self.assertIn("\\fB--%s\\fR" % flag["option"], page)
        settings = self.page("vramcast-settings.7")
        for row in tables("settings"):
            self.assertIn("\\fB%s\\fR" % row["key"], settings)

    @unittest.skipUnless(have("man"), "no man")
    def test_pages_are_set_without_a_warning(self):
        pages = [os.path.join(f, n) for s in ("man1", "man7") for f, _, names in os.walk(
            os.path.dirname(only("vramcast.1")).replace("man1", s)) for n in names]
        self.assertGreater(len(pages), 9)
        for page in pages:
            _, out, err = run("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", page,
                              env=clean(MANROFFSEQ="", MANWIDTH="80", LC_ALL="C.UTF-8"))
            self.assertEqual(err, "")
            self.assertIn("NAME", re.sub(".\b", "", out))


if __name__ == "__main__":
    unittest.main()
