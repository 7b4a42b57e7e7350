#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns the .vt files into C: their text, and which file defines which name."""
import os
import re
import sys


def c_string(text):
    out = []
    for line in text.splitlines(keepends=True):
        line = line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        out.append('    "%s"' % line)
    return "\n".join(out)


def strip(text):
    """Comments and empty lines go, but lines keep their numbers; a # in a string is no comment."""
    return "\n".join(re.sub(r'("[^"]*")|\s*#.*$', lambda m: m.group(1) or "", line) for line in text.split("\n"))


def main():
    out, files = sys.argv[1], sys.argv[2:]
    names, body = [], []
    for number, path in enumerate(files):
        with open(path, encoding="ascii") as source:
            text = source.read()
        body.append("    {\"%s\",\n%s},\n" % (os.path.basename(path), c_string(strip(text))))
        for match in re.finditer(r'^(?:module|function|family) +"?([\w.-]+)', text, re.M):
            names.append((match.group(1), number))
    names.sort()
    with open(out, "w", encoding="ascii") as c:
        c.write('/* Made from the .vt files by embed.py. */\n#include "models/embedded.h"\n\n#pragma GCC diagnostic ignored "-Woverlength-strings"\n\n')
        c.write("const struct vram_embedded_file vram_embedded_files[] = {\n%s};\n" % "".join(body))
        c.write("const unsigned vram_embedded_files_count = %d;\n\n" % len(files))
        c.write("const struct vram_embedded_name vram_embedded_names[] = {\n")
        for name, number in names:
            c.write('    {"%s", %d},\n' % (name, number))
        c.write("};\nconst unsigned vram_embedded_names_count = %d;\n" % len(names))


main()
