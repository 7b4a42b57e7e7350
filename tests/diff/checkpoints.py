# SPDX-License-Identifier: Apache-2.0
"""checkpoints.py VRAMCAST: real checkpoint directories (materialised as sparse files).

Parameters by component as the index of the reference data has them, with a tower in a second
directory where the original LLaVA layout has one, and the same answer from the bare config.json.
"""
import csv
import importlib.util
import os
import sys
import tempfile

from common import Command, finish, shared

FAMILIES = {"llava", "llava_next", "llava-original", "paligemma", "llama", "mistral", "qwen2",
            "qwen3", "clip", "siglip", "vit", "dinov2", "qwen2_vl",
            "qwen2_5_vl", "internvl", "idefics3", "smolvlm", "llava_onevision",
            "gemma3", "gemma3_text", "mistral3", "whisper", "qwen2_audio", "mllama", "blip-2",
            "gemma2", "gpt2", "gpt_neox", "opt", "phi3", "mixtral",
            "qwen3_moe", "falcon", "bert", "t5", "roberta", "deepseek_v2", "qwen", "internvl_chat", "chatglm"}
# The index adds these to its four columns.
COLUMN = {"vision": "vision_params", "projector": "projector_params", "decoder": "decoder_params",
          "lm_head": "decoder_params", "encoder": "decoder_params", "head": "decoder_params",
          "audio": "audio_params"}
PLAN = ["micro_batch=1", "seq=512", "precision=bf16"]
# One row has text_projection in the decoder's column; the same weights' other row, and the training
# reference, have it in the projector's.
ELSEWHERE = {"clip-vit-large-patch14@new-names": 768 * 768}
# Stored and counted by the index, but no parameters of the class: a head that the class ties (transformers 5
# compares the values, a header has none), a pooler and the head of next sentences, a second bias.
MORE = {"falcon-7b": 65024 * 4544, "bert-base-uncased": 769 * 768 + 769 * 2, "t5-base": 32 * 12}
TOWER = {"llava-v1.5-7b@liuhaotian": ("clip-vit-large-patch14-336", 7062902784)}


def materialize():
    path = shared("checkpoints", "materialize.py")
    spec = importlib.util.spec_from_file_location("materialize", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows():
    with open(shared("checkpoints", "index.csv"), newline="") as f:
        for row in csv.DictReader(f):
            wanted = (row["family"] in FAMILIES and not row["folder"].startswith("_") and
                      not row["quantised"] and not row["adapter"] and "@lmms-lab" not in row["folder"])
            if wanted:
                yield row


def by_column(report, row):
    sums = dict.fromkeys(("vision_params", "projector_params", "decoder_params", "audio_params"), 0)
    counts = report["model"]["parameters"]["by_component"]
    # the top model's own parameters: image_newline with a head, logit scales with two encoders
    own = "projector_params" if row["family"].startswith("llava") else "decoder_params"
    # classifiers of pictures count as vision there
    column = dict(COLUMN, fusion=own, head="vision_params" if "vision" in counts else "decoder_params")
    for component, count in counts.items():
        sums[column[component]] += count
    sums["decoder_params"] += MORE.get(row["folder"], 0)
    moved = ELSEWHERE.get(row["folder"], 0)
    sums["projector_params"] -= moved
    sums["decoder_params"] += moved
    return sums


def differing(report, row):
    bad = {}
    total = report["model"]["parameters"]["total"] + MORE.get(row["folder"], 0)
    if total != int(row["total_parameters"]):
        bad["total"] = total - int(row["total_parameters"])
    for column, count in by_column(report, row).items():
        if count != int(row[column]):
            bad[column] = count - int(row[column])
    return bad


def comparable(report):
    """Everything but where the model was read from, and what was found there."""
    kept = {k: v for k, v in report.items() if k not in ("model", "findings")}
    kept["parameters"] = report["model"]["parameters"]
    return kept


def check(command, folder, row):
    report, said = command.report(folder, *PLAN)
    if not report:
        return {"refused": said}
    bad = differing(report, row)
    bare, said = command.report(os.path.join(folder, "config.json"), *PLAN)
    if not bare:
        bad["bare config refused"] = said
    elif comparable(bare) != comparable(report):
        bad["bare config"] = [k for k, v in comparable(report).items() if comparable(bare)[k] != v]
    return bad


def check_tower(command, folder, tower, count):
    """Named in the plan, and found beside the model under its last name."""
    bad = {}
    for how, settings in (("beside", []), ("given", ["vision_tower=" + tower])):
        report, said = command.report(folder, *PLAN, *settings)
        total = report and report["model"]["parameters"]["total"]
        if total != count:
            bad["tower " + how] = total or said
    return bad


def main():
    command, tool = Command(sys.argv[1]), materialize()
    only = sys.argv[2:]
    right = total = 0
    for row in rows():
        name = row["folder"]
        if only and name not in only:
            continue
        with tempfile.TemporaryDirectory() as work:
            folder = os.path.join(work, name)
            tool.convert_dir(shared("checkpoints", name), folder)
            bad = check(command, folder, row)
            if name in TOWER:
                tower, count = TOWER[name]
                beside = os.path.join(work, tower)
                tool.convert_dir(shared("checkpoints", tower), beside)
                bad.update(check_tower(command, folder, beside, count))
        total += 1
        right += not bad
        if bad:
            print(name, bad)
    finish("checkpoint directories with exact parameters", right, total)


main()
