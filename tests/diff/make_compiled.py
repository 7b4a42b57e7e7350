# SPDX-License-Identifier: Apache-2.0
"""make_compiled.py OUT: what torch's min-cut partitioner keeps of small models for backward.

Runs torch.compile with the partitioner and the decompositions that inductor takes, on the CPU, and writes a
JSON list of {"config", "plan", "bytes"}: the distinct results that forward hands to backward, but for the
mask that exists only where a model is traced, and other looks at what is counted.
"""
import functools
import json
import sys

import make_reference  # noqa: F401 (its imports know where the oracle is)
import tiny
import torch
import transformers
from common import shared
from functorch.compile import make_boxed_func, min_cut_rematerialization_partition
from torch._dynamo.backends.common import aot_autograd
from torch._inductor.decomposition import select_decomp_table

CASES = [("llama-3-8b", "bf16-mixed"), ("qwen3", "bf16"), ("gemma-2b", "bf16"), ("phi-3-mini-4k", "bf16"),
         ("pythia-1b", "bf16"), ("mistral-7b", "bf16"), ("qwen2-7b", "bf16")]


def kept(config, precision, batch, seq):
    found = {}

    def forward(graph, inputs):
        for node in [n for n in graph.graph.nodes if n.op == "output"][0].args[0]:
            value = getattr(node, "meta", {}).get("val")
            if node.op == "call_function" and isinstance(value, torch.Tensor) and not node.name.startswith(
                    ("alias", "where")):
                found[node.name] = value.numel() * value.element_size()
        return make_boxed_func(graph.forward)

    backend = aot_autograd(
        fw_compiler=forward, bw_compiler=lambda graph, inputs: make_boxed_func(graph.forward),
        partition_fn=functools.partial(min_cut_rematerialization_partition, compiler="inductor"),
        decompositions=select_decomp_table())
    made = transformers.CONFIG_MAPPING[config["model_type"]].from_dict(config)
    mixed = precision.endswith("-mixed")
    model = getattr(transformers, config["architectures"][0])._from_config(
        made, attn_implementation="sdpa", dtype=torch.float32 if mixed else torch.bfloat16)
    model.config.use_cache = False
    model.train()
    ids = torch.ones(batch, seq, dtype=torch.long)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=mixed):
        torch.compile(model, backend=backend)(input_ids=ids, labels=ids)
    return sum(found.values())


def main():
    out = []
    for name, precision in CASES:
        torch._dynamo.reset()
        config = tiny.shrink(json.load(open(shared("golden", "train", name, "config.json"))))
        out.append({"config": config, "plan": {"micro_batch": 2, "seq": 64, "precision": precision},
                    "bytes": kept(config, precision, 2, 64)})
        print(name, out[-1]["bytes"], flush=True)
    json.dump(out, open(sys.argv[1], "w"))


if __name__ == "__main__":
    main()
