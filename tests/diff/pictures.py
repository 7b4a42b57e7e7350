# SPDX-License-Identifier: Apache-2.0
"""pictures.py VRAMCAST: what image processors make of pictures of six sizes.

facts/vlm_tokens.csv has the shape of pixel_values as transformers' own processors made it; the input
of that many bytes must be there.
"""
import csv
import math
import sys

from common import Command, finish, shared

# the example of the table -> the configuration that has its sizes
EXAMPLES = {
    "llava-v1.6-vicuna-7b": "llava-next-mistral-7b",
    "llava-onevision-qwen2-7b": "llava-onevision-7b",
    "Qwen2-VL-7B (hub: max_pixels 12845056)": "qwen2-vl-7b",
    "Qwen2.5-VL-7B": "qwen2.5-vl-7b",
    "Idefics3-8B-Llama3": "idefics3-8b",
    "SmolVLM2-2.2B": "smolvlm-2.2b",
    "SmolVLM-256M/500M": "smolvlm-256m",
    "InternVL3-8B-hf (max 12)": "internvl3-8b",
    "pixtral-12b": "pixtral-12b",
    "Mistral-Small-3.1-24B": "mistral3-24b",
}


def rows():
    with open(shared("facts", "vlm_tokens.csv"), newline="") as f:
        for row in csv.DictReader(f):
            if row["example"] in EXAMPLES:
                yield row


def inputs(command, config, row):
    """Bytes of the tensors that a forward begins with."""
    done = command.run("predict", config, "mode=infer", "micro_batch=1", "seq=16000", "images=1",
                       "image_size=%sx%s" % (row["image_h"], row["image_w"]), "--dump=events")
    if done.returncode:
        return done.stderr.strip()
    lines = [line.split() for line in done.stdout.split("phase forward\n", 1)[1].splitlines()]
    marked = {line[1] for line in lines if line[0] == "category" and line[2] == "inputs"}
    return [int(line[2]) for line in lines if line[0] == "alloc" and line[1] in marked]


def main():
    command = Command(sys.argv[1])
    right = total = 0
    for row in rows():
        config = shared("golden", "train", EXAMPLES[row["example"]], "config.json")
        wanted = 4 * math.prod(int(n) for n in row["pixel_shape"].split("x"))
        found = inputs(command, config, row)
        total += 1
        right += wanted in found
        if wanted not in found:
            print(row["example"], row["image_h"], row["image_w"], wanted, "not in", found)
    finish("pixel values as the processors make them", right, total)


if __name__ == "__main__":
    main()
