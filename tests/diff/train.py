# SPDX-License-Identifier: Apache-2.0
"""train.py VRAMCAST [--table] [FAMILY[/PLAN]...]: every number of the reference results.

Parameters, trainable parameters, saved bytes (as they are, rounded to 512, by component), and the
peak and end of every phase must equal the real framework's own.  --table prints the table of
docs/accuracy.md.
"""
import glob
import json
import os
import sys
import tempfile

from common import Command, finish, settings, shared

FAMILIES = """llava-1.5-7b llava-1.5-13b llava-next-mistral-7b paligemma-3b-224 llama-2-7b
llama-2-13b llama-3-8b llama-3.2-1b mistral-7b qwen2-7b qwen2.5-0.5b qwen3 gemma-2b gemma2-2b gpt2
phi-2 phi-3-mini-4k phi-4 pythia-1b opt-1.3b falcon-7b
bert-base-uncased t5-base mixtral-8x7b qwen1.5-moe-a2.7b qwen3-30b-a3b tiny-llava-1.5 tiny-paligemma tiny-llama tiny-qwen3
tiny-gemma2 tiny-gpt2 tiny-opt tiny-falcon tiny-mixtral tiny-bert tiny-t5
clip-vit-large-patch14 siglip-base-patch16-224
vit-base-patch16-224 dinov2-base tiny-vit qwen2.5-vl-3b qwen2.5-vl-7b tiny-qwen2.5-vl
qwen2-vl-2b qwen2-vl-7b internvl3-1b internvl3-8b tiny-internvl3 smolvlm-256m smolvlm-2.2b
tiny-smolvlm idefics3-8b llava-onevision-0.5b llava-onevision-7b
gemma3-4b tiny-gemma3 pixtral-12b mistral3-24b whisper-large-v3
qwen2-audio-7b llama-3.2-11b-vision blip2-opt-2.7b""".split()


def differences(report, golden, plan):
    """Name -> ours minus theirs, of everything that is not equal."""
    bad = {}

    def compare(name, ours, theirs):
        if ours != theirs:
            bad[name] = ours - theirs if isinstance(ours, int) and isinstance(theirs, int) else (ours, theirs)

    phases = {p["name"]: (p["peak"], p["end"]) for p in report["phases"]}
    for name, phase in golden["phases"].items():
        compare(name, phases.pop(name, None), (phase["peak_bytes"], phase["end_bytes"]))
    for name in phases:
        bad[name] = "not in the reference"
    total = golden["parameters"]["total"]
    compare("parameters", report["model"]["parameters"]["total"], total["count"])
    compare("parameters by component", report["model"]["parameters"]["by_component"],
            {n: c["count"] for n, c in golden["parameters"]["components"].items() if c["count"]})
    if plan["mode"] == "train":
        compare("trainable", report["model"]["parameters"]["trainable"], total["trainable"])
    saved = golden.get("saved_for_backward")
    if saved:
        compare("saved", report["saved"]["total"], saved["bytes"])
        compare("saved in blocks of 512", report["saved"]["total_512"], saved["bytes_512"])
        compare("saved by component", report["saved"]["by_component"], saved["components"])
    return bad


def config_of(family, folder):
    """The config's path; without the packing it may ask for, since the reference made plain Linears."""
    path = shared("golden", "train", family, "config.json")
    with open(path, encoding="utf-8") as file:
        config = json.load(file)
    if "quantization_config" not in config:
        return path
    del config["quantization_config"]
    path = os.path.join(folder, family + ".json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(config, file)
    return path


def cases(names):
    for name in names or FAMILIES:
        family, _, only = name.partition("/")
        for path in sorted(glob.glob(shared("golden", "train", family) + "/*.json")):
            plan = os.path.basename(path)[:-5]
            if plan != "config" and only in ("", plan):
                yield family, plan, json.load(open(path))


def main():
    table = "--table" in sys.argv
    names = [a for a in sys.argv[2:] if a != "--table"]
    command = Command(sys.argv[1])
    right = total = 0
    rows = {}
    for family, name, case in cases(names):
        with tempfile.TemporaryDirectory() as folder:
            report, said = command.report(config_of(family, folder), *settings(case["plan"]))
        bad = differences(report, case["results"], case["plan"]) if report else {"refused": said}
        total += 1
        right += not bad
        row = rows.setdefault(family, [0, 0, 0])
        row[0] += 1
        row[1] += not bad
        row[2] += len(case["results"]["phases"])
        if bad:
            print(family, name, dict(list(bad.items())[:8]))
    if table:
        print("| model | plans | equal to the byte | phases compared |\n|---|---|---|---|")
        for family, (plans, equal, phases) in rows.items():
            print("| %s | %d | %d | %d |" % (family, plans, equal, phases))
    finish("reference results equal to the byte", right, total)


if __name__ == "__main__":
    main()
