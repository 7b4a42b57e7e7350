#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training of exported graphs: what backward keeps, against torch's saved tensors of the modules that were exported
(fixtures/graphs/saved.json, by make_graphs.py) and against the prediction from their configs.

graphs.py VRAMCAST"""
import json
import os
import subprocess
import sys

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "fixtures", "graphs")


def predict(path, *settings):
    # ours or theirs: both run the reference's kernels in fp32, attention as eager code
    run = subprocess.run([sys.argv[1], "predict", path, "mode=train", "precision=fp32", "kernels_as=oracle",
                          "--format", "json", *settings], capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"{path}: exit {run.returncode}: {run.stderr}{run.stdout[:400]}")
    return json.loads(run.stdout)


def main():
    bad = 0
    with open(os.path.join(HERE, "saved.json"), encoding="ascii") as f:
        rows = json.load(f)
    for name, row in rows.items():
        graph = predict(os.path.join(HERE, name + ".onnx"))
        assumed = [x["subject"] for x in graph["findings"] if x["id"] == "V0606"]
        figures = {"graph": graph["saved"]["total"], "torch": row["saved"]}
        if row["config"]:
            config = os.path.join(HERE, row["config"])
            figures["config"] = predict(config, "attention=eager", "micro_batch=2")["saved"]["total"]
        same = len(set(figures.values())) == 1 and not assumed and figures["graph"] > 0
        print("ok  " if same else "BAD ", name, figures, *assumed)
        bad += not same
    return 1 if bad or len(rows) < 6 else 0


sys.exit(main())
