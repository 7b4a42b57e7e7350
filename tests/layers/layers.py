# SPDX-License-Identifier: Apache-2.0
"""layers.py BUILD_DIR: a layer sees what it may see, and nothing else.

Takes the compiler's command line of one real file of each layer from compile_commands.json, and tries
includes with it: those of the table must compile, those that are forbidden must not.  Sources are also
read for what no include path can forbid: `..` in an include, and calls that a layer may not make.
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# layer: a file of it, headers it may include, headers it must not
LAYERS = {
    "src": ("src/base/arena.c", ["base/arena.h", "ir/model.h", "plan/plan.h", "vram/vram.h"],
            ["loaders.h", "json/json.h", "machine/machine.h", "train/train.h", "factor.h",
             "api/handles.h"]),
    "loaders": ("loaders/source.c", ["base/arena.h", "ir/checkpoint.h", "json/json.h", "settings/settings.h", "plan/plan.h"],
                ["machine/machine.h", "train/train.h", "alloc/alloc.h", "tables/tables.h",
                 "models/tree.h", "factor.h", "api/handles.h"]),
    "analysis": ("analysis/factor.c", ["base/arena.h", "ir/model.h", "machine/machine.h"],
                 ["loaders.h", "source.h", "json/json.h", "safetensors/header.h", "hf/config.h",
                  "text/template.h", "settings/settings.h", "api/handles.h"]),
    "api": ("src/api/predict.c", ["loaders.h", "machine/machine.h", "api/handles.h"], ["output.h"]),
    "tools": ("tools/main.c", ["vram/vram.h"],
              ["base/arena.h", "ir/model.h", "plan/plan.h", "loaders.h", "machine/machine.h",
               "api/handles.h"]),
}

# Files are the loaders' business, the terminal is the tools': nobody below the tools prints or ends
# the process.
FORBIDDEN_CALLS = {
    "src": r"\b(fopen|open|printf|fprintf|puts|exit|abort|getenv)\s*\(",
    "loaders": r"\b(printf|fprintf|puts|exit|abort|getenv)\s*\(",
    "analysis": r"\b(fopen|open|read|printf|fprintf|puts|exit|abort|getenv)\s*\(|\bFILE\b|\bstd(in|out|err)\b",
}


def flags_of(commands, name):
    for entry in commands:
        path = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
        if path == os.path.join(ROOT, name):
            words = shlex.split(entry["command"])
            cut = words.index("-o") if "-o" in words else len(words)
            kept = [w for w in words[:cut] if not w.startswith("-M") and w != "-c"
                    and not w.endswith(".d")]
            return entry["directory"], [w for w in kept if not w.endswith(".o")]
    sys.exit("no compile command for " + name)


def compiles(directory, command, header, work):
    probe = os.path.join(work, "probe.c")
    with open(probe, "w") as f:
        f.write('#include "%s"\nint probe(void);\nint probe(void) { return 0; }\n' % header)
    return subprocess.run(command + ["-fsyntax-only", probe], cwd=directory,
                          capture_output=True).returncode == 0


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", lambda m: " ", text, flags=re.S)


def sources(layer):
    for folder, _, names in os.walk(os.path.join(ROOT, layer)):
        for name in sorted(names):
            if name.endswith((".c", ".h")):
                yield os.path.join(folder, name)


def main():
    commands = json.load(open(os.path.join(sys.argv[1], "compile_commands.json")))
    wrong, tried = [], 0
    with tempfile.TemporaryDirectory() as work:
        for layer, (name, may, must_not) in LAYERS.items():
            directory, command = flags_of(commands, name)
            for header, expected in [(h, True) for h in may] + [(h, False) for h in must_not]:
                tried += 1
                if compiles(directory, command, header, work) != expected:
                    wrong.append("%s %s include %s" % (layer, "cannot" if expected else "can", header))
    for layer in ("src", "loaders", "analysis", "tools"):
        for path in sources(layer):
            text = open(path).read()
            shown = os.path.relpath(path, ROOT)
            tried += 1
            if re.search(r'#\s*include\s+"[^"]*\.\./', text):
                wrong.append(shown + " includes through ..")
            pattern = FORBIDDEN_CALLS.get(layer)
            found = pattern and re.search(pattern, without_comments(text))
            if found and not shown.startswith("src/api"):
                wrong.append("%s has %s" % (shown, found.group(0)))
    print("\n".join(wrong))
    print("layers: %d of %d" % (tried - len(wrong), tried))
    sys.exit(1 if wrong else 0)


main()
