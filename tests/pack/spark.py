#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples/spark/scan.py over many models on a local cluster: each path has one record, equal to that of one scan.

    spark.py VRAMCAST [MODELS]

Uses the Python that VRAM_SPARK_PYTHON names, this one, or one made for the purpose; skipped without Java, or where
pyspark cannot be had.
"""
import json
import os
import random
import sys
import tempfile

from common import CONFIGS, ROOT, clean, have, must, run, skip

VRAMCAST = os.path.abspath(sys.argv[1])
MODELS = int(sys.argv[2]) if len(sys.argv) > 2 else 10000
WORDS = ["seq=64", "gpu=rtx4090-24g"]
COUNT = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
for row in spark.read.parquet(sys.argv[1]).select("path", "outcome", "peak.device.expected").collect():
    print("%s\\t%s\\t%s" % (row[0], row[1], row[2]))
"""


def spark_python(folder):
    """A Python that has pyspark; None when there is none and none can be made."""
    for python in filter(None, (os.environ.get("VRAM_SPARK_PYTHON"), sys.executable)):
        if have(python) and not run(python, "-c", "import pyspark")[0]:
            return python
    with open(os.path.join(ROOT, "tests", "pack", "requirements.txt"), encoding="utf-8") as f:
        pin, = [line for line in f.read().splitlines() if line.startswith("pyspark==")]
    python = os.path.join(folder, "venv", "bin", "python")
    made = not run(sys.executable, "-m", "venv", os.path.join(folder, "venv"))[0]
    return python if made and not run(python, "-m", "pip", "install", "-q", pin)[0] else None


def zoo(folder):
    """Configs of three families in many sizes, every hundredth broken."""
    pick = random.Random(7)
    configs = []
    for name in sorted(os.listdir(CONFIGS)):
        with open(os.path.join(CONFIGS, name, "config.json"), encoding="utf-8") as f:
            configs.append(json.load(f))
    paths = []
    for i in range(MODELS):
        path = os.path.join(folder, "%03d" % (i % 100), "m%05d" % i)
        os.makedirs(path)
        config = dict(configs[i % len(configs)])
        text = config.setdefault("text_config", config)
        if text is not config:
            config["text_config"] = text = dict(text)
        text["intermediate_size"] = 64 * pick.randint(1, 16)
        if text is config:
            del config["text_config"]
        with open(os.path.join(path, "config.json"), "w", encoding="utf-8") as f:
            f.write(json.dumps(config) if i % 100 else "{")
        paths.append(path)
    return paths


def main():
    if not have("java"):
        skip("no Java")
    with tempfile.TemporaryDirectory() as folder:
        python = spark_python(folder)
        if not python:
            skip("no pyspark, and it cannot be had")
        paths = zoo(os.path.join(folder, "zoo"))
        listed, out = os.path.join(folder, "models.txt"), os.path.join(folder, "records")
        with open(listed, "w", encoding="utf-8") as f:
            f.write("\n".join(paths) + "\n")
        env = clean(VRAMCAST=VRAMCAST, PYSPARK_PYTHON=python, SPARK_LOCAL_DIRS=folder, HOME=folder,
                    PYSPARK_SUBMIT_ARGS="--master local[2] --conf spark.ui.enabled=false pyspark-shell")
        said = must(python, os.path.join(ROOT, "examples", "spark", "scan.py"), listed, out, *WORDS, env=env)
        print(said, end="")
        assert said.startswith("%d records\n" % MODELS), said
        found = sorted(must(python, "-c", COUNT, out, env=env).splitlines())
        one = [json.loads(line) for line in must(VRAMCAST, "scan", os.path.join(folder, "zoo"), *WORDS).splitlines()]
        wanted = sorted("%s\t%s\t%s" % (r["path"], r["outcome"], r["peak"] and r["peak"]["device"]["expected"])
                        for r in one)
        assert found == wanted, "records differ"
        assert sum("\terror\t" in line for line in found) == MODELS // 100
    print("spark: %d models, the records of one scan" % MODELS)


main()
