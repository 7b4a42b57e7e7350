# SPDX-License-Identifier: Apache-2.0
"""predict.py VRAMCAST [FOLDER]: what `vramcast predict` costs, as ratios in one run.

Whole processes, in turns, medians: against an empty C program, and (with VRAM_PYTHON, an interpreter that
has torch and transformers) against a script that builds the same config on the framework's meta device.
Per event: the bundled 7B directory against an 80-layer and a 126-layer config.  Peak resident memory of
each.  Nothing is asserted.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLAN = ["micro_batch=8", "seq=2048", "strategy=zero2", "gpus=8", "gpu=a100-80g"]
META = """
import sys, torch
from transformers import AutoConfig, AutoModelForImageTextToText
config = AutoConfig.from_pretrained(sys.argv[1])
with torch.device("meta"):
    model = AutoModelForImageTextToText.from_config(config)
print(sum(p.numel() for p in model.parameters()))
"""


def llama(layers, hidden, intermediate, heads, kv, vocabulary):
    return {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": hidden,
            "intermediate_size": intermediate, "num_attention_heads": heads,
            "num_key_value_heads": kv, "num_hidden_layers": layers, "vocab_size": vocabulary,
            "max_position_embeddings": 131072, "rms_norm_eps": 1e-05, "torch_dtype": "bfloat16"}


CONFIGS = {"80 layers of 8192": llama(80, 8192, 28672, 64, 8, 128256),
           "126 layers of 16384": llama(126, 16384, 53248, 128, 8, 128256)}


LAUNCHER = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
int main(int n, char **words)
{
    struct timespec a, b;
    struct rusage used;
    int status, null = open("/dev/null", O_WRONLY);
    clock_gettime(CLOCK_MONOTONIC, &a);
    pid_t child = vfork();
    if (child == 0) {
        dup2(null, 1);
        execv(words[1], words + 1);
        _exit(127);
    }
    wait4(child, &status, 0, &used);
    clock_gettime(CLOCK_MONOTONIC, &b);
    printf("%.9f %ld\\n", (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9,
           used.ru_maxrss);
    return n < 2 || status != 0;
}
"""


def once(launcher, command):
    """Seconds and KiB of one process, started by a program smaller than any of them."""
    done = subprocess.run([launcher] + command, capture_output=True, text=True)
    if done.returncode:
        sys.exit("failed: " + " ".join(command))
    seconds, kib = done.stdout.split()
    return float(seconds), int(kib)


def in_turns(launcher, commands, rounds):
    seconds, memory = {k: [] for k in commands}, {}
    for _ in range(rounds):
        for name, command in commands.items():
            s, kib = once(launcher, command)
            seconds[name].append(s)
            memory[name] = kib
    return {k: statistics.median(v) for k, v in seconds.items()}, memory


def compiled(work, name, text):
    source, program = os.path.join(work, name + ".c"), os.path.join(work, name)
    open(source, "w").write(text)
    subprocess.run(["cc", "-O2", "-o", program, source], check=True)
    return program


def events_of(vramcast, path):
    done = subprocess.run([vramcast, "predict", path, *PLAN, "--format", "json"],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["events"]


def main():
    vramcast = os.path.abspath(sys.argv[1])
    folder = sys.argv[2] if len(sys.argv) > 2 else os.path.join(
        os.path.dirname(os.path.dirname(vramcast)), "fixtures", "llava-1.5-7b-hf")
    with tempfile.TemporaryDirectory() as work:
        paths = {"LLaVA-1.5-7B": folder}
        for name, config in CONFIGS.items():
            paths[name] = os.path.join(work, name.replace(" ", "-") + ".json")
            json.dump(config, open(paths[name], "w"))
        launcher = compiled(work, "launcher", LAUNCHER)
        commands = {"empty process": [compiled(work, "empty", "int main(void) { return 0; }\n")]}
        commands.update({k: [vramcast, "predict", p, *PLAN] for k, p in paths.items()})
        seconds, memory = in_turns(launcher, commands, 41)
        start = seconds["empty process"]
        print("%-22s %9s %10s %8s %12s %9s" % ("", "ms", "x empty", "MiB", "events", "us/event"))
        print("%-22s %9.3f %10.2f %8.1f" % ("empty process", start * 1e3, 1, memory["empty process"] / 1024))
        first = None
        for name, path in paths.items():
            events = events_of(vramcast, path)
            each = (seconds[name] - start) / events
            first = first or each
            print("%-22s %9.3f %10.2f %8.1f %12d %9.4f  (%.2f of the first's)" % (
                name, seconds[name] * 1e3, seconds[name] / start, memory[name] / 1024, events,
                each * 1e6, each / first))
        python = os.environ.get("VRAM_PYTHON")
        if python:
            config = os.path.dirname(os.path.join(ROOT, "fixtures/checkpoints/llava-1.5-7b-hf/x"))
            meta, meta_memory = in_turns(launcher, {"meta": [python, "-c", META, config]}, 3)
            print("%-22s %9.1f %10s %8.1f  %.0f times the 7B prediction" % (
                "meta device, Python", meta["meta"] * 1e3, "", meta_memory["meta"] / 1024,
                meta["meta"] / seconds["LLaVA-1.5-7B"]))


main()
