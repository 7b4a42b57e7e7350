# SPDX-License-Identifier: Apache-2.0
"""messages.py ROOT: every refusal that stands in the lexer, the parser and the linker has a case in
errors.c."""
import os
import re
import sys

SOURCES = ["loaders/text/" + name + ".c" for name in (
    "lexer", "parser", "expr", "statement", "template", "family")]
CALLS = re.compile(r"(?:vram_lexer_fail|vram_lexer_fail_at|vram_fail|fail_at)\((?:[^;]*?)((?:\"(?:[^\"\\]|\\.)*\"\s*)+)", re.S)
# what no test can reach: more than 2^31 nodes, more than 2^16 files
UNREACHED = {"the templates are too large", "too many template files", "line %u, column %u: %s",
             "line %u, column %u: %s '%s'"}


def literal(text):
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text)).replace('\\"', '"')


def main():
    root = sys.argv[1]
    cases = literal(open(os.path.join(root, "tests/unit/text/errors.c")).read())
    missing = []
    found = 0
    for path in SOURCES + ["src/ir/program.c"]:
        for match in CALLS.finditer(open(os.path.join(root, path)).read()):
            message = literal(match.group(1))
            if message in UNREACHED:
                continue
            found += 1
            pattern = re.escape(message)
            for form in ("%s", "%d", "%u", "0x%02x", "%llu"):
                pattern = pattern.replace(re.escape(form), ".+?")
            if not re.search(pattern, cases):
                missing.append("%s: %s" % (path, message))
    print("%d refusals, %d without a case" % (found, len(missing)))
    for line in missing:
        print(line)
    sys.exit(1 if missing or found < 50 else 0)


main()
