# SPDX-License-Identifier: Apache-2.0
"""record_settings.py VRAMCAST NAME=DIR... > settings_keys.txt: what the tools' own sources say of the keys.

NAME is torch, transformers, accelerate, deepspeed, llamafactory, axolotl, swift, swift3 (package folders;
swift3 is the one before), llava or llava_next (repositories).  Sources are parsed, not run.  For every key
of `vramcast list keys` a line: the tool, the key, and its default where the source has one as a constant
("-": only the name was found).  A key that no source names is an error.  "optim" lines are the names of
transformers' optimizers.
"""
import ast
import glob
import json
import os
import re
import subprocess
import sys

SOURCES = {
    "TrainingArguments": ["transformers/training_args.py", "transformers/modeling_utils.py",
                          "accelerate/parallelism_config.py", "torch/include/c10/core/AllocatorConfig.h"],
    "accelerate": ["accelerate/commands/launch.py", "accelerate/commands/config/*.py",
                   "accelerate/utils/dataclasses.py", "accelerate/parallelism_config.py"],
    "FSDP": ["accelerate/utils/dataclasses.py", "accelerate/commands/launch.py",
             "transformers/training_args.py", "transformers/trainer_utils.py", "axolotl/utils/schemas/*.py",
             "swift/trainers/arguments.py", "swift/arguments/sft_args.py"],
    "DeepSpeed": ["deepspeed/runtime/constants.py", "deepspeed/runtime/config.py",
                  "deepspeed/runtime/zero/config.py", "deepspeed/runtime/zero/offload_config.py",
                  "deepspeed/runtime/precision_config.py", "deepspeed/runtime/tensor_parallel/config.py",
                  "deepspeed/runtime/activation_checkpointing/config.py"],
    "LLaVA": ["llava/llava/train/train.py", "llava_next/llava/train/train.py"],
    "LLaMA-Factory": ["llamafactory/hparams/*.py", "transformers/training_args.py", "llamafactory/launcher.py"],
    "axolotl": ["axolotl/utils/schemas/*.py", "axolotl/integrations/*/args.py", "axolotl/utils/*.py"],
    "ms-swift": ["swift/arguments/*.py", "swift/arguments/base_args/*.py", "swift/trainers/arguments.py",
                 "swift/template/**/*.py", "transformers/training_args.py", "swift3/llm/argument/**/*.py"],
}


def constant(node, names):
    """The text of a default that is written as a constant; None when it is computed."""
    if isinstance(node, ast.Call):
        given = {k.arg: k.value for k in node.keywords}
        if "default" in given:
            return constant(given["default"], names)
        if getattr(node.func, "id", "") == "pp_int" or (node.args and getattr(node.func, "id", "") == "Field"):
            return constant(node.args[0], names)
        return None
    if isinstance(node, ast.Attribute):  # AttentionFunction.AUTO
        return node.attr.lower()
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        a, b = constant(node.left, names), constant(node.right, names)
        return str(int(a) * int(b)) if (a or "").isdigit() and (b or "").isdigit() else None
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return str(value).lower() if isinstance(value, (bool, type(None))) else str(value)


def read(path):
    """The names of a source (fields, aliases, strings), with the defaults of fields."""
    found, names = {}, {}
    if path.endswith(".h"):
        return dict.fromkeys(re.findall(r"\b[A-Z]+_[A-Z_]+\b", open(path).read()))
    tree = ast.parse(open(path).read())
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 80:
            found.setdefault(node.value.lstrip("-").replace("-", "_"), None)
            for line in node.value.split():
                found.setdefault(line.strip("`\"',()"), None)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for word in re.findall(r"\b[A-Z]+_[A-Z_]+\b", node.value):  # the environment
                found.setdefault(word, None)
        if isinstance(node, ast.arg):
            found.setdefault(node.arg, None)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = constant(node.value, names)
            twice = node.targets[0].id in names  # decided as it runs
            names[node.targets[0].id] = None if twice else value
    for name, value in names.items():  # GRADIENT_CLIPPING and GRADIENT_CLIPPING_DEFAULT
        if value and names.get(name + "_DEFAULT"):
            found[value] = names[name + "_DEFAULT"]
    for cls in [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)]:
        for node in cls.body:
            if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
                continue
            value = constant(node.value, names) if node.value else None
            found[node.target.id] = value
            for word in getattr(node.value, "keywords", []):
                if word.arg == "alias":
                    found[ast.literal_eval(word.value)] = value
    return found


def main():
    roots = dict(word.split("=", 1) for word in sys.argv[2:])
    table = json.loads(subprocess.run([sys.argv[1], "list", "keys", "--format", "json"], check=True,
                                      capture_output=True, text=True).stdout)
    known, missing = {}, 0
    for tool, patterns in SOURCES.items():
        known[tool] = {}
        for pattern in reversed(patterns):  # the tool's own sources say it last
            name, _, rest = pattern.partition("/")
            for path in sorted(glob.glob(os.path.join(roots[name], rest), recursive=True)):
                for key, value in read(path).items():
                    if value is not None or key not in known[tool]:
                        known[tool][key] = value
    print("# SPDX-License-Identifier: Apache-2.0\n# record_settings.py wrote this: tool, key, the default in "
          "the tool's source (- none).")
    for cls in ast.walk(ast.parse(open(os.path.join(roots["transformers"], "training_args.py")).read())):
        if isinstance(cls, ast.ClassDef) and cls.name == "OptimizerNames":
            for node in [n for n in cls.body if isinstance(n, ast.Assign)]:
                print("optim\t%s\t-" % node.value.value)
    for tool, key in sorted({(r["tool"], r["key"]) for r in table["rows"] if r["tool"] in SOURCES}):
        leaf = key.strip("$._").split(".")[-1]
        for name in (leaf, "fsdp_" + leaf, leaf.lower(), leaf.replace("CUDA_", "")):
            if name in known[tool] or name.upper() in known[tool]:
                break
        else:
            missing += 1
            print("%s: nothing names %s" % (tool, key), file=sys.stderr)
            continue
        value = known[tool].get(name)
        print("%s\t%s\t%s" % (tool, key, "-" if value is None else value))
    sys.exit(1 if missing else 0)


main()
