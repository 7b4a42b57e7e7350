# SPDX-License-Identifier: Apache-2.0
"""against_bash.py: the scripts of test_words in settings.c, and what bash makes of them.

Run by hand.  Commands that are not there print their words.  Left out: words that only a shell knows
('?'), loops, what is not reached, and files whose lines end as in Windows, which bash does not take.
"""
import os
import re
import subprocess
import tempfile

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "settings.c")
BEGIN = """PATH=/nowhere
command_not_found_handle() { local IFS='|'; echo "$*" >&9; }
export() { builtin export "$@"; echo export >&9; }
"""


def main():
    text = open(SOURCE).read()
    table = text[text.index("static void test_words"):text.index("/* ---- files ---- */")]
    tried = wrong = 0
    for match in re.finditer(r'\{"((?:[^"\\]|\\.)*)", "((?:[^"\\]|\\.)*)"\}', table):
        script, words = (m.encode().decode("unicode_escape") for m in match.groups())
        if "?" in words or re.search(r"while|else|expr|\|\||\r|\$\(\nX", script):
            continue
        with tempfile.TemporaryDirectory() as folder:
            for name in "bcdf":  # of redirections
                open(os.path.join(folder, name), "w").close()
            open(os.path.join(folder, "script"), "w").write(BEGIN + script)
            out = os.path.join(folder, "out")
            subprocess.run(["/bin/bash", "-c", "exec 9>out; . ./script; wait"], cwd=folder, timeout=10,
                           capture_output=True)
            found = open(out).read()
        tried += 1
        if sorted(found.splitlines()) != sorted(words.splitlines()):
            wrong += 1
            print("%r\n  bash %r\n  here %r" % (script, found, words))
    print("%d scripts, %d differ" % (tried, wrong))


main()
