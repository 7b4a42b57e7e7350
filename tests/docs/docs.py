# SPDX-License-Identifier: Apache-2.0
"""docs.py BUILD_DIR [--update]: documents are true.

Commands in ```console blocks of README.md and docs/*.md are run and must print what stands there
(--update writes it); pictures made by the command must be what it makes; links must lead somewhere;
every folder of sources has a README; every setting and command is known to the documents that list
them; the tables of keys in docs/settings.md are the library's; the C example compiles.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PICTURES = {"docs/timeline.svg": "predict build/fixtures/llava-1.5-7b-hf micro_batch=8 seq=2048 "
            "strategy=zero2 gpus=8 gpu=a100-80g checkpointing=all train.vision=frozen --format svg"}
ROOTS = ["src", "loaders", "analysis", "tools", "tests", "fixtures", "proto"]


def documents():
    yield "README.md"
    yield "CONTRIBUTING.md"
    for name in sorted(os.listdir(os.path.join(ROOT, "docs"))):
        if name.endswith(".md"):
            yield "docs/" + name


def run(build, words):
    """A documented command, run from the project's root; build/ stands for the build folder."""
    words = [re.sub(r"^build/", build + "/", w) for w in words]
    done = subprocess.run([os.path.join(build, "tools", "vramcast")] + words, cwd=ROOT,
                          capture_output=True, text=True)
    return done.stdout + done.stderr


def console(build, path, update):
    text = open(os.path.join(ROOT, path)).read()
    wrong = []

    def check(match):
        out = []
        for part in re.split(r"(?m)^(?=\$ )", match.group(1)):
            if not part.startswith("$ vramcast "):
                out.append(part)
                continue
            command, _, shown = part.partition("\n")
            real = run(build, command.split()[2:])
            whole = shown.rstrip("\n")
            cut = whole.endswith("\n…") or whole == "…"
            expected = real.rstrip("\n")
            if cut:  # the rest is left out on purpose
                n = len(whole[:-1].rstrip("\n").splitlines())
                expected = "\n".join(expected.splitlines()[:n] + ["…"])
            if whole != expected:
                wrong.append("%s: output of %s" % (path, command))
            out.append(command + "\n" + expected + "\n")
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
