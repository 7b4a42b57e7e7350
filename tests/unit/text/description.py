# SPDX-License-Identifier: Apache-2.0
"""description.py ROOT: docs/templates.md says what the sources say: the worked example is the file it
quotes, reserved words and limits are those of the code."""
import os
import re
import sys

LIMITS = [  # row of the table, its number, the source and the place that has it
    ("a file", "4 MiB", "src/base/arena.c", r"template_bytes = 4u << 20,"),
    ("blocks inside blocks", "31 ", "loaders/text/lexer.h", r"VRAM_MAX_INDENTS = 32 "),
    ("expressions and one-line", "60", "loaders/text/parser.h", r"VRAM_MAX_NESTING = 60,"),
    ("operations on top", "200", "loaders/text/parser.h", r"VRAM_MAX_HEIGHT = 200 "),
    ("items of a list", "256", "loaders/text/parser.h", r"VRAM_MAX_LIST = 256,"),
    ("names of one body", "200", "loaders/text/parser.h", r"VRAM_MAX_LOCALS = 200,"),
    ("parameters of a function", "64", "loaders/text/statement.c", r"params\[64\]"),
    ("arguments of a call", "16 by position, 16 by name", "analysis/machine/machine.h", r"VRAM_MAX_ARGS = 16,"),
    ("modules that extend", "40", "src/ir/program.c", r"MAX_EXTENDS = 40 "),
    ("modules inside modules", "40", "analysis/models/builder.h", r"VRAM_MAX_MODULE_DEPTH = 40 "),
    ("modules, parameters", "1048576, 8388608", "src/base/arena.c", r"scopes = 1u << 20,\s+\.params = 8u << 20,"),
    ("dimensions of a tensor", "10", "analysis/machine/machine.h", r"VRAM_MAX_RANK = 10,"),
    ("values of a list", "1048576", "analysis/machine/machine.h", r"VRAM_MAX_BOX = 1 << 20 "),
    ("statements, loop turns", "200000000", "src/base/arena.c", r"steps = UINT64_C\(200\) \* 1000 \* 1000,"),
    ("calls, blocks and", "1000", "src/base/arena.c", r"depth = 1000,"),
    ("memory of the model", "2 GiB each", "src/base/arena.c", r"arena_bytes = UINT64_C\(2\) << 30,"),
]


def read(root, path):
    with open(os.path.join(root, path)) as f:
        return f.read()


def check(root):
    text = read(root, "docs/templates.md")
    example = read(root, "tests/templates/persimmon/persimmon.vt")
    for block in re.findall(r"```vt\n(.*?)```", text, flags=re.S):
        if block not in example:
            yield "not in tests/templates/persimmon/persimmon.vt: " + block.splitlines()[0]
    words = set(re.findall(r"(?:SYNTAX|VALUE)\(\"(\w+)\"", read(root, "loaders/text/parser.c"))) | {"setting"}
    listed = re.search(r"Reserved words cannot be names: `([^`]*)`", text)
    if not listed or set(listed.group(1).split()) != words:
        yield "reserved words: " + " ".join(sorted(words))
    table = text[text.index("## Limits"):]
    rows = [row for row in re.findall(r"(?m)^\| (.*) \|$", table)][1:]
    if len(rows) != len(LIMITS):
        yield "%d rows of limits, %d are known" % (len(rows), len(LIMITS))
    for name, number, path, pattern in LIMITS:
        if not any(r.startswith(name) and r.split(" | ")[1].startswith(number) for r in rows):
            yield "no limit of %s: %s" % (name, number)
        if not re.search(pattern, read(root, path)):
            yield "%s: %s is no longer %s" % (path, name, number)


def main():
    wrong = list(check(sys.argv[1]))
    print("\n".join(wrong) or "%d limits" % len(LIMITS))
    sys.exit(1 if wrong else 0)


main()
