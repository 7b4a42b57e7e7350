# SPDX-License-Identifier: Apache-2.0
"""settings.py DUMP VRAMCAST [--update]: what the files of fixtures/settings make of a plan.

settings.txt has a block for each case: the files, then the settings with who said them, then the
findings.  --update rewrites it; read the difference.  settings_keys.txt has what the tools' own sources
say (record_settings.py): every key of the tables must be there, and every default must be theirs.
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "..", "..", "fixtures", "settings")
EXPECTED = os.path.join(HERE, "settings.txt")


def same(a, b):
    try:
        return float(a) == float(b)
    except ValueError:
        return a.lower() == b.lower()


def optimizers(rows, names):
    """transformers' names of optimizers and the rows have each other, but for those of other hardware."""
    taken = {a for r in rows if (r["tool"], r["key"], r["kind"]) == ("TrainingArguments", "optim", "sets")
             for a in r["value"].split("|")}
    return ["optim %s: not on both sides" % n
            for n in (taken ^ names) - {"adamw_torch_xla", "adamw_torch_npu_fused"}]


def against_sources(vramcast):
    recorded, wrong, held = {}, [], 0
    for line in open(os.path.join(HERE, "settings_keys.txt")):
        if not line.startswith("#"):
            tool, key, value = line.rstrip("\n").split("\t")
            recorded[tool, key] = value
    rows = json.loads(subprocess.run([vramcast, "list", "keys", "--format", "json"], capture_output=True,
                                     text=True, check=True).stdout)["rows"]
    tools = {tool for tool, _ in recorded}
    wrong += optimizers(rows, {key for tool, key in recorded if tool == "optim"})
    for row in rows:
        value = recorded.get((row["tool"], row["key"]))
        if row["tool"] in tools and value is None:
            wrong.append("%s: no source was found to name %s" % (row["tool"], row["key"]))
        if row["kind"] == "default" and value not in (None, "-", "none"):
            held += 1
            if not same(value, row["value"]):
                wrong.append("%s: %s is %s by default, not %s" % (row["tool"], row["key"], value, row["value"]))
    print("\n".join(wrong + ["keys of sources: %d, defaults held against them: %d" % (len(recorded), held)]))
    return len(wrong) + (held < 30)


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
    wrong += against_sources(os.path.abspath(sys.argv[2]))
    sys.exit(1 if wrong else 0)


main()
