# SPDX-License-Identifier: Apache-2.0
"""headers.py BUILD_DIR LIBRARY: headers stand alone, and the library shows what symbols.txt says.

The public header must compile alone as C11, C17 and C++11 with all warnings; every other header alone
as C11 with the include paths of its own layer.  `headers.py BUILD_DIR LIBRARY --write` rewrites
symbols.txt: a name that goes is a new major version.
"""
import json
import os
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PUBLIC = "src/include/vram/vram.h"
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]


def compiler(variable, *usual):
    for name in [os.environ.get(variable)] + list(usual):
        if name and subprocess.run(["sh", "-c", "command -v " + name.split()[0]],
                                   capture_output=True).returncode == 0:
            return name.split()
    return None


def public(work):
    probe = os.path.join(work, "probe")
    for suffix in (".c", ".cc"):
        with open(probe + suffix, "w") as f:
            f.write("#include <vram/vram.h>\n#include <vram/vram.h>\n"
                    "int main(void) { return vram_version() == 0; }\n")
    include = ["-I", os.path.join(ROOT, "src", "include")]
    cc, cxx = compiler("CC", "cc", "gcc"), compiler("CXX", "c++", "g++", "clang++")
    for standard in ("c11", "c17"):
        yield "%s as %s" % (PUBLIC, standard), cc + ["-std=" + standard] + STRICT + include + [
            probe + ".c"]
    if cxx:
        yield PUBLIC + " as c++11", cxx + ["-std=c++11"] + STRICT + include + [probe + ".cc"]
    else:
        print("no C++ compiler: the public header was not tried with one")


def layer_flags(commands):
    flags = {}
    for entry in commands:
        path = os.path.relpath(os.path.normpath(os.path.join(entry["directory"], entry["file"])), ROOT)
        words = shlex.split(entry["command"])
        kept = [w for w in words if w.startswith(("-I", "-D", "-std"))]
        flags.setdefault(os.path.dirname(path), (entry["directory"], words[0], kept))
    return flags


def private(commands, work):
    flags = layer_flags(commands)
    for top in ("src", "loaders", "analysis", "tools"):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            shown = os.path.relpath(folder, ROOT)
            at = shown
            while at not in flags and at:
                at = os.path.dirname(at)
            for name in sorted(n for n in names if n.endswith(".h")):
                path = os.path.join(shown, name)
                if path == PUBLIC or at not in flags:
                    continue
                probe = os.path.join(work, path.replace("/", "_") + ".c")
                with open(probe, "w") as f:
                    f.write('#include "%s"\nint probe(void);\nint probe(void) { return 0; }\n' %
                            os.path.join(ROOT, path))
                directory, cc, options = flags[at]
                yield path, [cc] + [o if not o.startswith("-I") else
                                    "-I" + os.path.join(directory, o[2:]) for o in options] + [
                    "-Wall", "-Wextra", "-Werror", "-fsyntax-only", probe]


def symbols(library):
    done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True)
    return sorted(line.split()[2] for line in done.stdout.splitlines() if len(line.split()) == 3)


def check_symbols(library, write):
    path = os.path.join(HERE, "symbols.txt")
    now = symbols(library)
    if write:
        with open(path, "w") as f:
            f.write("\n".join(now) + "\n")
    listed = open(path).read().split()
    for name in now:
        if not name.startswith("vram_"):
            yield name + " is visible and does not begin with vram_"
        if name not in listed:
            yield name + " is visible and not in symbols.txt"
    for name in listed:
        if name not in now:
            yield name + " is in symbols.txt and not visible"


def main():
    build, library = sys.argv[1:3]
    commands = json.load(open(os.path.join(build, "compile_commands.json")))
    wrong, tried = [], 0
    with tempfile.TemporaryDirectory() as work:
        for what, command in list(public(work)) + list(private(commands, work)):
            tried += 1
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                wrong.append("%s: %s" % (what, done.stderr.strip().splitlines()[0]))
    bad = list(check_symbols(library, "--write" in sys.argv))
    wrong += bad
    tried += 1
    print("\n".join(wrong))
    print("headers and symbols: %d of %d" % (tried - len(wrong), tried))
    sys.exit(1 if wrong else 0)


main()
