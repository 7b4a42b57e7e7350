#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""processes.py DIR [KEY=VALUE]...: a zoo by processes of multiprocessing, each with the library, no command.

The form for engines that map a function over a list (Dask, Ray: `predict_row` is what they map). One line a model:
path, verdict or error, expected bytes.
"""
import concurrent.futures
import functools
import os
import sys

import vramcast


def predict_row(values, path):
    """One model's row; errors are rows."""
    try:
        report = vramcast.predict(path, values)
    except vramcast.VramError as error:
        return path, error.code, 0
    return path, report.verdict or "ok", report.device.expected


def models(top):
    for folder, folders, names in os.walk(top):
        folders.sort()
        if "config.json" in names:
            yield folder


def main():
    values = dict(word.split("=", 1) for word in sys.argv[2:])
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for row in pool.map(functools.partial(predict_row, values), models(sys.argv[1]), chunksize=50):
            print("%s\t%s\t%d" % row)


if __name__ == "__main__":
    main()
