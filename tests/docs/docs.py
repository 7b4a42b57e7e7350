# SPDX-License-Identifier: Apache-2.0
"""docs.py BUILD_DIR [--update] [--no-programs]: documents are true.

Commands in ```console blocks of README.md, docs/ and docs/guides are run and must print what stands there
(--update writes it); those of other programs, too, with vramcast, its library and its Python package at hand (not with
--no-programs, nor where the program or cffi is missing); pictures made by the command must be what it makes; links must lead somewhere;
every folder of sources has a README; every setting and command is known to the documents that list
them; the tables of keys in docs/settings.md are the library's; the C example compiles.
"""
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "pack"))
from common import package  # noqa: E402

PICTURES = {"docs/timeline.svg": "predict build/fixtures/llava-1.5-7b-hf micro_batch=8 seq=2048 "
            "strategy=zero2 gpus=8 gpu=a100-80g checkpointing=all train.vision=frozen --format svg"}
ROOTS = ["src", "loaders", "analysis", "tools", "tests", "fixtures", "proto", "packaging", "python", "examples"]
NEEDS = {"sh": ["sh"], "cc": ["cc", "pkg-config"], "python3": [], "build": []}  # first words that are run, what they need


def documents():
    yield "README.md"
    yield "CONTRIBUTING.md"
    for folder in ("docs", "docs/guides"):
        for name in sorted(os.listdir(os.path.join(ROOT, folder))):
            if name.endswith(".md"):
                yield folder + "/" + name


def run(build, words):
    """A documented command, run from the project's root; build/ stands for the build folder."""
    words = [re.sub(r"^build/", build + "/", w) for w in words]
    done = subprocess.run([os.path.join(build, "tools", "vramcast")] + words, cwd=ROOT,
                          capture_output=True, text=True)
    return done.stdout + done.stderr


def program(build, line):
    """Another program's command, by the shell; None where it cannot be run."""
    needs = NEEDS.get(line.split()[0].split("/")[0])
    if "--no-programs" in sys.argv or needs is None or any(not shutil.which(n) for n in needs):
        return None
    if "python3" in line and importlib.util.find_spec("cffi") is None:
        return None
    api = os.path.join(build, "src", "api")
    env = dict(os.environ, PATH=os.path.join(build, "tools") + os.pathsep + os.environ["PATH"], LD_LIBRARY_PATH=api,
               PKG_CONFIG_PATH=os.path.join(build, "meson-uninstalled"))
    with tempfile.TemporaryDirectory() as folder:
        if "python3" in line:
            env.update(package(build, folder))
        done = subprocess.run(["sh", "-c", re.sub(r"(?<![\w./])build/", build + "/", line)], cwd=ROOT, env=env,
                              capture_output=True, text=True)
    return (done.stdout + done.stderr).replace(build + "/", "build/")


def answer(build, line):
    words = line.split()
    return run(build, words[1:]) if words[0] == "vramcast" else program(build, line)


def console(build, path, update):
    text = open(os.path.join(ROOT, path)).read()
    wrong = []

    def check(match):
        out = []
        for part in re.split(r"(?m)^(?=\$ )", match.group(1)):
            command, _, shown = part.partition("\n")
            real = answer(build, command[2:]) if part.startswith("$ ") else None
            if real is None:
                out.append(part)
                continue
            whole = shown.rstrip("\n")
            cut = whole.endswith("\n…") or whole == "…"
            expected = real.rstrip("\n")
            if cut:  # the rest is left out on purpose
                n = len(whole[:-1].rstrip("\n").splitlines())
                expected = "\n".join(expected.splitlines()[:n] + ["…"])
            if whole != expected:
                wrong.append("%s: output of %s" % (path, command))
            out.append(command + "\n" + expected + ("\n" if expected else ""))
        return "```console\n" + "".join(out) + "```"

    new = re.sub(r"```console\n(.*?)```", check, text, flags=re.S)
    if update and new != text:
        open(os.path.join(ROOT, path), "w").write(new)
        return []
    return wrong


def pictures(build, update):
    for path, command in PICTURES.items():
        real = run(build, command.split())
        full = os.path.join(ROOT, path)
        if update:
            open(full, "w").write(real)
        elif open(full).read() != real:
            yield path + " is not what the command draws"


def meaning(row):
    """One row of a key: what a value becomes."""
    def code(text):
        return "`%s`" % text.replace("|", "` or `")

    value = {"": "nothing", "*": "any"}.get(row["value"]) or code(row["value"])
    when = " if " + " and ".join("`%s`" % w.lstrip(":").replace("|", " / ") for w in row["when"].split()) \
        if row["when"] else ""
    if row["kind"] == "default":
        return "default %s%s" % (value, when)
    if row["kind"] == "called":
        return "another name of %s" % code(row["value"])
    if row["kind"] == "inside":
        return "below it keys of %s" % row["sets"]
    if row["kind"] == "opens":
        return "JSON text has keys below it"
    if row["kind"] == "splits":
        return "each word is a key below it"
    if row["kind"] == "follows":
        return "a file that is read as well"
    left = [w[1:] for w in row["sets"].split() if w[0] == "?"]
    sets = " ".join(w for w in row["sets"].split() if w[0] != "?")
    becomes = code(sets) if sets else "left to others: `%s`" % left[0] if left else "no change"
    return "%s%s: %s%s" % (value, when, becomes, " †" if row["note"] else "")


def keys(build, update):
    """docs/settings.md has every key of every tool, as the library's rows say."""
    path = os.path.join(ROOT, "docs", "settings.md")
    text = open(path).read()
    table = json.loads(run(build, ["list", "keys", "--format", "json"]))
    rows, wrong, seen = table["rows"], [], set()

    def check(match):
        tool, lines, order = match.group(1), [], {}
        seen.add(tool)
        for row in rows:
            if row["tool"] == tool:
                order.setdefault(row["key"], []).append(meaning(row))
        for key, meanings in order.items():
            lines.append("| `%s` | %s |" % (key, "; ".join(meanings)))
        new = "\n".join(["<!-- keys of %s -->" % tool, "| key | becomes |", "|---|---|"] + lines +
                        ["<!-- end -->"])
        if new != match.group(0):
            wrong.append("docs/settings.md: keys of " + tool)
        return new

    new = re.sub(r"<!-- keys of ([^\n]+) -->\n.*?<!-- end -->", check, text, flags=re.S)
    wrong += ["docs/settings.md: no keys of " + t for t in sorted({r["tool"] for r in rows} - seen)]
    if update and new != text:
        open(path, "w").write(new)
        return []
    return wrong


def links(path):
    text = re.sub(r"```.*?```", "", open(os.path.join(ROOT, path)).read(), flags=re.S)
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if "://" not in target and not os.path.exists(
                os.path.join(ROOT, os.path.dirname(path), target)):
            yield "%s: no %s" % (path, target)


def readmes():
    for root in ROOTS:
        for folder, folders, names in os.walk(os.path.join(ROOT, root)):
            folders[:] = [f for f in folders if f not in ("__pycache__", "corpus", "include")]
            shown = os.path.relpath(folder, ROOT)
            sources = [n for n in names if n.endswith((".c", ".h", ".py", ".vt"))]
            own = os.path.exists(os.path.join(folder, "README.md"))
            above = os.path.exists(os.path.join(os.path.dirname(folder), "README.md"))
            if sources and not own and not above:
                yield shown + " has no README.md"


def example(work):
    text = open(os.path.join(ROOT, "README.md")).read()
    program = re.search(r"```c\n(.*?)```", text, flags=re.S).group(1)
    source = os.path.join(work, "example.c")
    open(source, "w").write(program)
    done = subprocess.run([os.environ.get("CC", "cc").split()[0], "-std=c11", "-Wall", "-Wextra", "-Werror",
                           "-I", os.path.join(ROOT, "src", "include"), "-fsyntax-only", source],
                          capture_output=True, text=True)
    if done.returncode:
        yield "README.md: the C example does not compile: " + done.stderr.splitlines()[0]


def commands(build):
    text = open(os.path.join(ROOT, "docs", "cli.md")).read()
    for line in run(build, ["--help"]).splitlines():
        match = re.match(r"  ([a-z]+)  +\S", line)
        if match and "`%s" % match.group(1) not in text:
            yield "docs/cli.md does not know " + match.group(1)


def main():
    build, update = os.path.abspath(sys.argv[1]), "--update" in sys.argv
    wrong, tried = [], 0
    with tempfile.TemporaryDirectory() as work:
        for found in [console(build, p, update) for p in documents()] + [
                list(links(p)) for p in documents()] + [
                keys(build, update), list(pictures(build, update)), list(readmes()), list(example(work)),
                list(commands(build))]:
            tried += 1
            wrong += found
    print("\n".join(wrong))
    print("documents: %d checks, %d wrong" % (tried, len(wrong)))
    sys.exit(1 if wrong else 0)


main()
