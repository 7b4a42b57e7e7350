# SPDX-License-Identifier: Apache-2.0
"""settings.py DUMP [--update]: what the files of fixtures/settings make of a plan.

settings.txt has a block for each case: the files, then the settings with who said them, then the
findings.  --update rewrites it; read the difference.
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "..", "..", "fixtures", "settings")
EXPECTED = os.path.join(HERE, "settings.txt")


def main():
    dump, update = os.path.abspath(sys.argv[1]), "--update" in sys.argv
    old = open(EXPECTED).read()
    new, wrong = [old[:old.index("\n$ ") + 1]], 0
    for block in old[old.index("\n$ ") + 1:].split("\n\n"):
        command, _, expected = block.rstrip("\n").partition("\n")
        done = subprocess.run([dump] + command.split()[1:], cwd=FIXTURES, capture_output=True, text=True)
        found = done.stdout.rstrip("\n")
        new.append(command + "\n" + found + "\n\n")
        if done.returncode or done.stderr or found != expected:
            wrong += 1
            print("%s\n--- expected\n%s\n--- found\n%s\n%s" % (command, expected, found, done.stderr))
    if update:
        open(EXPECTED, "w").write("".join(new).rstrip("\n") + "\n")
        return
    print("settings files: %d cases, %d wrong" % (len(new) - 1, wrong))
    sys.exit(1 if wrong else 0)


main()
