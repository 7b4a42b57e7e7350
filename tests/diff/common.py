# SPDX-License-Identifier: Apache-2.0
"""What the differential suites share: where the reference data is, and one run of the command."""
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.environ.get("VRAM_SHARED", os.path.join(ROOT, "..", "shared"))
SKIP = 77

OPTIMIZER = {"adamw_fused": "adamw-fused", "adamw_foreach": "adamw", "sgd_momentum": "sgd-momentum"}
ATTENTION = {"flash": "sdpa", "efficient": "sdpa"}


def shared(*parts):
    """A path in the reference data; the suite is skipped where there is none."""
    path = os.path.join(SHARED, *parts)
    if not os.path.exists(path):
        print("skipped: no", os.path.join("shared", *parts))
        sys.exit(SKIP)
    return path


class Command:
    """The command under test."""

    def __init__(self, path):
        self.path = path

    def run(self, *args):
        return subprocess.run([self.path, *args], capture_output=True, text=True)

    def report(self, *args):
        """The report as data, or what was said instead."""
        done = self.run("predict", *args, "--format", "json")
        if done.returncode not in (0, 4):
            return None, done.stderr.strip()
        return json.loads(done.stdout), done.stderr.strip()


def settings(plan):
    """The settings that repeat a reference plan (its words: plan-keys.md, last section)."""
    out = ["kernels_as=oracle", "mode=" + plan["mode"], "micro_batch=%d" % plan["micro_batch"],
           "seq=%d" % plan["seq_len"], "images=%d" % plan["images"],
           "precision=" + plan["precision"], "accumulation=%d" % plan["grad_accumulation"],
           "steps=%d" % plan["steps"],
           "optimizer=" + OPTIMIZER.get(plan["optimizer"], plan["optimizer"])]
    if plan["optimizer"].startswith("sgd"):
        out.append("optimizer.foreach=off")
    if plan.get("image_size"):
        out.append("image_size=%dx%d" % tuple(plan["image_size"]))
    out.append("tiles=%d" % (plan.get("tiles") or 1))
    checkpointing = plan["gradient_checkpointing"]
    if checkpointing != "off":
        out.append("checkpointing=all")
    if checkpointing == "reentrant":
        out.append("checkpointing.reentrant=true")
    attention = plan["attention"]
    out.append("attention=" + ATTENTION.get(attention, attention))
    if attention in ("efficient", "eager", "math"):
        out.append("padded=true")
    if not plan["clip_grad"]:
        out.append("clip_grad=off")
    for name, how in (plan["train"] or {}).items():
        out.append(("train" if name == "default" else "train." + name) + "=" + how)
    lora = plan.get("lora")
    if lora:
        targets = lora["targets"]
        out += ["lora.rank=%d" % lora["rank"], "lora.dropout=%g" % lora["dropout"],
                "lora.targets=" + (targets if isinstance(targets, str) else ",".join(targets))]
    if plan.get("every", 1) > 1:
        out.append("checkpointing.every=%d" % plan["every"])
    if plan.get("offload"):
        out.append("checkpointing.offload=on")
    if plan.get("modules"):
        out.append("train.modules=" + plan["modules"])
    if plan.get("modules_to_save"):
        names = plan["modules_to_save"]
        out.append("lora.modules_to_save=" + (names if isinstance(names, str) else ",".join(names)))
    if plan.get("rank_pattern"):
        out.append("lora.rank_pattern=" + ",".join("%s=%d" % pair for pair in plan["rank_pattern"].items()))
    if plan.get("dora"):
        out.append("lora.dora=on")
    if plan.get("bias"):
        out.append("lora.bias=" + plan["bias"].replace("_", "-"))
    if plan.get("selective"):
        out.append("checkpointing=selective")
    if plan.get("kernels"):
        out.append("kernels=" + plan["kernels"])
    if plan.get("weights"):
        out.append("weights=" + plan["weights"])
    out += plan.get("more", [])
    if plan.get("new_tokens"):
        out.append("new_tokens=%d" % plan["new_tokens"])
    elif plan["mode"] == "infer":
        out += ["kv_tokens=0", "logits=full", "loss=hf"]
    return out


def finish(what, right, total):
    """The suite's one line, and its exit status."""
    print("%s: %d of %d" % (what, right, total))
    sys.exit(0 if right == total and total else 1)
