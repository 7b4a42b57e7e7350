#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scan.py LIST OUT [KEY=VALUE]...: records of all models that LIST names, by a Spark cluster.

LIST is a text file with a path a line that every worker can read; OUT gets Parquet. Spark's `pipe` hands the paths of
a partition to one `vramcast scan --stdin` and takes its lines as records; VRAMCAST names the command on the workers.

    spark-submit examples/spark/scan.py models.txt records gpu=a100-80g seq=2048
"""
import os
import shlex
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

RANGE = "struct<low:bigint,expected:bigint,high:bigint>"
RECORD = ("path string, outcome string, verdict string, "
          "model struct<format:string,family:string,class:string,parameters:bigint,parameter_bytes:bigint>, "
          "peak struct<allocated:%s,reserved:%s,device:%s>, "
          "error struct<code:string,where:string,offset:bigint,text:string>" % (RANGE, RANGE, RANGE))


def main():
    paths, out, words = sys.argv[1], sys.argv[2], sys.argv[3:]
    spark = SparkSession.builder.appName("vramcast").getOrCreate()
    command = shlex.join([os.environ.get("VRAMCAST", "vramcast"), "scan", "--stdin", "--jobs", "1"] + words)
    lines = spark.sparkContext.textFile(paths, minPartitions=4 * spark.sparkContext.defaultParallelism)
    records = lines.pipe(command, checkCode=True).map(lambda line: (line,)).toDF("line string")
    frame = records.select(F.from_json("line", RECORD).alias("r")).select("r.*")
    frame.write.mode("overwrite").parquet(out)
    done = spark.read.parquet(out)
    print("%d records" % done.count())
    for row in done.groupBy("outcome", "verdict").count().orderBy("outcome", "verdict").collect():
        print("%s %s %d" % (row["outcome"], row["verdict"], row["count"]))
    spark.stop()


main()
