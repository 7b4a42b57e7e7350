# SPDX-License-Identifier: Apache-2.0
"""Shapes of ONNX graphs against what ONNX Runtime really made of them, tensor by tensor.

Bound: every input's shape is given, as it was fed.  Unbound: nothing is, and every expression is evaluated at the
recorded bindings.  A tensor whose shape depends on data is counted apart: no tool can know it.

    shapes.py VRAMCAST [--unbound] [--show] [SOURCE[/PART OF A MODEL'S NAME]...]
"""
import collections
import gzip
import json
import os
import re
import sys

from common import Command, finish, shared

DTYPES = {"float32": "fp32", "float64": "fp64", "float16": "fp16", "bfloat16": "bf16", "int64": "i64", "int32": "i32",
          "int16": "i16", "int8": "i8", "uint64": "u64", "uint32": "u32", "uint16": "u16", "uint8": "u8", "bool": "bool",
          "string": "string", "object": "string", "complex64": "c64", "complex128": "c128", "int4": "i4", "uint4": "u4", "int2": "i2", "uint2": "u2",
          "float8e4m3fn": "fp8-e4m3", "float8e4m3fnuz": "fp8-e4m3fnuz", "float8e5m2": "fp8-e5m2",
          "float8e5m2fnuz": "fp8-e5m2fnuz", "float8e8m0": "fp8-e8m0", "float4e2m1": "fp4-e2m1"}


def where(source, model):
    return shared("exports" if source == "exports" else "corpus", model)


def records(chosen):
    folder = shared("golden", "shapes")
    for name in sorted(os.listdir(folder)):
        source = name[:-len(".jsonl.gz")]
        picks = [c.partition("/")[2] for c in chosen if c.partition("/")[0] == source]
        if chosen and not picks:
            continue
        with gzip.open(os.path.join(folder, name), "rt") as lines:
            for line in lines:
                r = json.loads(line)
                if "tensors" in r and (not chosen or any(p in r["model"] for p in picks)):
                    yield source, r


def shape_words(record):
    for name, dims in record["inputs"].items():
        if isinstance(dims, list) and all(isinstance(d, int) for d in dims):
            yield "input.%s=%s" % (name, "x".join(map(str, dims)) if dims else "scalar")


def evaluate(text, values):
    """An expression as the command prints it; None when it has other names."""
    names, n = {}, [0]

    def name(match):
        key = (match.group(1) or match.group(2)).replace("``", "`")
        if key in ("min", "max"):
            return key
        if key not in values:
            raise KeyError(key)
        n[0] += 1
        names["v%d" % n[0]] = values[key]
        return "v%d" % n[0]
    try:
        return eval(re.sub(r"`((?:[^`]|``)*)`|([A-Za-z_][A-Za-z0-9_.]*)", name, text), {"min": min, "max": max}, names)
    except (KeyError, SyntaxError, ZeroDivisionError):
        return None


def input_values(answer, record):
    """Sizes of inputs by the names that the answer has for them."""
    values = {}
    for name, dims in record["inputs"].items():
        ours = answer["tensors"].get(name, {}).get("dims")
        if not isinstance(dims, list) or not ours or len(ours) != len(dims):
            continue
        for text, size in zip(ours, dims):
            if isinstance(text, str) and re.fullmatch(r"`(?:[^`]|``)*`|[A-Za-z_][A-Za-z0-9_.]*", text):
                values[text.strip("`").replace("``", "`")] = size
    return values


def judge(ours, dtype, dims, values):
    """right, wrong, unknown (nothing or not all is said), or data (other names stand in it)"""
    if ours is None or ours.get("dims") is None:
        if ours and ours.get("dtype") and ours["dtype"] != DTYPES.get(dtype, dtype):
            return "wrong"
        return "unknown"
    if ours["dtype"] and ours["dtype"] != DTYPES.get(dtype, dtype) or len(ours["dims"]) != len(dims):
        return "wrong"
    verdict = "right" if ours["dtype"] else "unknown"
    for a, b in zip(ours["dims"], dims):
        if isinstance(a, str):
            a = evaluate(a, values)
        if a is None:
            verdict = "unknown"
        elif a != b:
            return "wrong"
    return verdict


def main():
    args = [a for a in sys.argv[2:] if not a.startswith("--")]
    unbound, show = "--unbound" in sys.argv, "--show" in sys.argv
    command = Command(sys.argv[1])
    table = collections.defaultdict(collections.Counter)
    answers = {}
    for source, record in records(args):
        path = where(source, record["model"])
        dynamic = bool(record.get("bindings"))
        if unbound and not dynamic:
            continue
        key = (path,)
        words = [] if unbound else list(shape_words(record))
        if not unbound or answers.get("key") != key:
            done = command.run("shapes", path, *words, "--format", "json")
            answers = {"key": key, "done": done, "json": json.loads(done.stdout) if done.returncode == 0 else None}
        answer, counts = answers["json"], table[source]
        counts["models"] += 1
        if answer is None:
            counts["refused"] += 1
            counts["refused tensors"] += len(record["tensors"])
            print("refused: %s/%s %s: %s" % (source, record["model"], record["case"], answers["done"].stderr.strip()[-300:]))
            continue
        values, tainted = input_values(answer, record), set(record.get("data_dependent", []))
        for name, golden in record["tensors"].items():
            if not isinstance(golden, list) or golden[0] == "sequence" or not isinstance(golden[1], list):
                continue
            ours = answer["tensors"].get(name)
            verdict = judge(ours, golden[0], golden[1], values)
            if verdict == "unknown" and name in tainted:
                verdict = "data"
            counts[verdict] += 1
            if verdict == "wrong" or show and verdict == "unknown":
                print("%s: %s/%s %s %s: %s, not %s" % (verdict, source, record["model"], record["case"], name, json.dumps(ours), golden))
    report(table, unbound)


def report(table, unbound):
    total = collections.Counter()
    print("%-34s %6s %8s %8s %6s %8s %6s %8s" % ("source", "models", "refused", "right", "wrong", "unknown", "data", "per cent"))
    for source in sorted(table) + ["all"]:
        c = total if source == "all" else table[source]
        if source != "all":
            total.update(c)
        known = c["right"] + c["wrong"] + c["unknown"] + c["refused tensors"]
        print("%-34s %6d %8d %8d %6d %8d %6d %8.3f" % (source, c["models"], c["refused"], c["right"], c["wrong"], c["unknown"],
                                                    c["data"], 100 * c["right"] / known if known else 100))
    known = total["right"] + total["wrong"] + total["unknown"] + total["refused tensors"]
    least = 0.97 if unbound else 0.995
    good = not total["wrong"] and total["right"] >= least * known
    finish("shapes" + (" unbound" if unbound else ""), known if good else total["right"], known)


main()
