#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Completions in the shells that are there: what is offered is what the command knows.

    completions.py VRAMCAST FOLDER
"""
import json
import os
import sys
import unittest

from common import Case, ROOT, clean, have, must

VRAMCAST, FOLDER = (os.path.abspath(w) for w in sys.argv[1:3])
del sys.argv[1:3]

# each prints what is offered for every line it is given, and a line "." behind it
BASH = """. "$1"; shift
COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
for line; do
    COMP_LINE=$line COMP_POINT=${#line}
    _vramcast
    printf '%s\\n' "${COMPREPLY[@]}" .
done
"""
# stands in for zsh's completion system: what _vramcast gives it, of that what begins as the word does
ZSH = """
compdef() { }
. "$1"; shift
compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -l -- ${(M)@:#$PREFIX*} }
_describe() {
    local name=${@[(R)(given|_vramcast_*)]} word
    for word in ${(P)name}; do word=${word%%:*}; [[ $word == $PREFIX* ]] && print -r -- $word; done
}
_files() { }
_message() { }
compset() { [[ $2 == 1 ]] && PREFIX=${PREFIX#*=} || PREFIX=${PREFIX##*,} }
for line; do
    words=(${(s: :)line}); [[ $line == *' ' ]] && words+=('')
    CURRENT=$#words PREFIX=$words[-1]
    _vramcast
    print .
done
"""
FISH = "source $argv[1]; for line in $argv[2..]; complete -C $line; echo .; end"
SHELLS = {"bash": ["bash", "-c", BASH, "bash", os.path.join(FOLDER, "vramcast")],
          "zsh": ["zsh", "-f", "-c", ZSH, "zsh", os.path.join(FOLDER, "_vramcast")],
          "fish": ["fish", "--no-config", "-c", FISH, os.path.join(FOLDER, "vramcast.fish")]}
SHELLS = {name: words for name, words in SHELLS.items() if have(name)}


def offered(shell, lines):
    """{line: [word]}"""
    out = must(*SHELLS[shell], *lines, cwd=ROOT, env=clean())
    parts, words = [], []
    for row in out.splitlines():
        if row == ".":
            parts.append(words)
            words = []
        elif row:
            words.append(row.split("\t")[0])
    return dict(zip(lines, parts))


def rows(table):
    return json.loads(must(VRAMCAST, "list", table, "-f", "json"))["rows"]


class Offered(Case):
    def each(self, lines):
        """{line: (offered, not offered)}; of key=value only the value counts, which is what bash gives."""
        for shell in SHELLS:
            for line, words in offered(shell, list(lines)).items():
                words = [w.split("=")[-1] if line[-1] != " " and "=" in line else w for w in words]
                wanted, unwanted = lines[line]
                with self.subTest(shell=shell, line=line):
                    self.assertEqual([w for w in wanted if w not in words], [])
                    self.assertEqual([w for w in unwanted if w in words], [])

    def test_commands(self):
        names = [c["name"] for c in rows("commands")]
        self.each({"vramcast ": (names, []), "vramcast pr": (["predict"], ["check"])})

    def test_options_of_each_command(self):
        flags = rows("flags")
        self.each({"vramcast %s --" % c["name"]: (
            ["--" + f["option"] for f in flags if f["command"] == c["name"]],
            ["--" + f["option"] for f in flags if f["option"] not in [
                g["option"] for g in flags if g["command"] == c["name"]]]) for c in rows("commands")})

    def test_words_that_options_take(self):
        self.each({"vramcast check --format ": (["text", "sarif"], ["svg"]),
                   "vramcast predict --format s": (["svg"], ["text"]),
                   "vramcast fit --max ": (["micro_batch", "seq"], []),
                   "vramcast check model --require ": (["likely", "certain"], [])})

    def test_keys_and_values(self):
        keys = [s["key"] + "=" for s in rows("settings") if s["key"].islower()]
        self.assertGreater(len(keys), 50)
        cards = [g["name"] for g in rows("gpus")]
        self.each({"vramcast predict model ": (keys, []),
                   "vramcast predict model strategy=": (["zero1", "fsdp2"], ["on"]),
                   "vramcast scan padded=": (["on", "off"], ["zero1"]),
                   "vramcast check model gpu=": (cards, []),
                   "vramcast check model gpu=h100": ([c for c in cards if c.startswith("h100")], ["a100-80g"])})

    def test_tables(self):
        self.each({"vramcast list ": (["settings", "commands"], ["micro_batch="])})

    def test_files_and_further_cards(self):
        answers = offered("bash", ["vramcast predict tests/pa", "vramcast check m gpu=a100-80g,h100-n"])
        self.assertEqual(list(answers.values()), [["tests/pack"], ["a100-80g,h100-nvl-94g"]])


class Choices(Case):
    def test_words_of_options_are_accepted(self):
        """Rows of `list choices` that are no rows of another table."""
        model = os.path.join(ROOT, "fixtures", "configs", "tiny-qwen3")
        run = ["seq=64", "gpu=rtx4090"]
        more = {"predict": run, "check": run, "fit": run, "scan": run, "explain": ["decoder", "seq=64"], "inspect": []}
        tried = 0
        for row in rows("choices"):
            if row["command"] in more and row["option"] != "max" and row["word"] != "sqlite":  # keys; needs a file
                must(VRAMCAST, row["command"], model, *more[row["command"]], "--" + row["option"], row["word"])
                tried += 1
        self.assertGreater(tried, 20)


if __name__ == "__main__":
    unittest.main()
