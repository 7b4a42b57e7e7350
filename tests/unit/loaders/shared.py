# SPDX-License-Identifier: Apache-2.0
"""The loaders against the shared checkpoints: shared.py DUMP SHARED_DIR

Rebuilds the directories (sparse files) in a temporary folder and runs the dump program on each.
Good ones: tensors, elements and bytes as index.csv counts them. Bad ones: refused or accepted as
expected.json says, and the file, tensor and key named, as far as loaders decide it.
"""
import csv, json, os, re, subprocess, sys, tempfile

# what only the module tree can see, and adapters: a loader must get through them
NOT_OURS = {
    "config-fewer-layers", "config-more-layers", "config-kv-heads-contradict", "config-vocab-resized",
    "config-vlm-without-vision-tensors", "config-missing-fields", "config-unknown-model-type",
    "adapter-config-missing", "adapter-r-zero", "adapter-unknown-peft-type",
    "adapter-weights-missing", "adapter-without-base",
}


def run(dump, path):
    p = subprocess.run([dump, "-q", path], stdout=subprocess.PIPE, timeout=60)
    return p.returncode, p.stdout.decode("utf-8", "replace").splitlines()


def sums(lines, which):
    for line in lines:
        m = re.match(which + r": (\d+) tensors, (\d+) elements \((\d+) in buffers\), (\d+) bytes", line)
        if m:
            return [int(x) for x in m.groups()]
    return None


def check_good(dump, shared, top):
    wrong = 0
    with open(os.path.join(shared, "checkpoints", "index.csv"), newline="") as f:
        rows = list(csv.DictReader(f))
    for r in rows:
        code, lines = run(dump, os.path.join(top, r["folder"]))
        want = [int(r[k]) for k in ("tensors", "stored_elements", "buffer_elements", "total_bytes")]
        quantised = any(l.startswith("warn QUANT_UNKNOWN") for l in lines)
        if code != 0 or sums(lines, "own") != want or quantised != bool(r["quantised"]):
            wrong += 1
            print("%s: %s, expected %s" % (r["folder"], lines[:2], want))
        if r["folder"] == "llava-v1.5-7b@liuhaotian":
            outside = sums(lines, "outside")
            if outside is None or want[1] + outside[1] - outside[2] != 7062902784:
                wrong += 1
                print("%s: with its tower: %s" % (r["folder"], outside))
    print("%d good directories, %d wrong" % (len(rows), wrong))
    return wrong


def check_bad(dump, top):
    wrong, names = 0, sorted(os.listdir(top))
    for name in names:
        with open(os.path.join(top, name, "expected.json")) as f:
            want = json.load(f)
        code, lines = run(dump, os.path.join(top, name, "dir", want.get("point_at", "")))
        warns = [l for l in lines if l.startswith("warn ")]
        got = "error" if code == 1 else "finding" if warns else "ok"
        said = lines[0] if got == "error" else "\n".join(warns)
        named = [want[k] for k in ("file", "tensor", "key") if k in want]
        right = got in (want["outcome"], want.get("also_allowed"))
        if got != "ok":
            right = right and all(n in said for n in named)
        if code not in (0, 1) or not (right or name in NOT_OURS):
            wrong += 1
            print("%s: %s, exit %d: %s" % (name, want["outcome"], code, said))
    print("%d bad directories, %d wrong" % (len(names), wrong))
    return wrong


def check_configs(dump, shared):
    wrong = n = 0
    for folder in ("golden/train", "configs"):
        for root, _, files in os.walk(os.path.join(shared, folder)):
            if "config.json" not in files:
                continue
            n += 1
            code, lines = run(dump, os.path.join(root, "config.json"))
            if code != 0:
                wrong += 1
                print("%s: %s" % (root, lines[:1]))
    print("%d configs, %d wrong" % (n, wrong))
    return wrong


def main(dump, shared):
    maker = os.path.join(shared, "checkpoints", "materialize.py")
    if not os.path.exists(maker):
        print("no shared checkpoints")
        return 77
    with tempfile.TemporaryDirectory() as top:
        good, bad = os.path.join(top, "good"), os.path.join(top, "bad")
        for args in ([os.path.dirname(maker), good], ["--bad", bad]):
            subprocess.run([sys.executable, maker] + args, check=True, stdout=subprocess.DEVNULL)
        wrong = check_good(dump, shared, good) + check_bad(dump, bad)
        wrong += check_configs(dump, shared)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
