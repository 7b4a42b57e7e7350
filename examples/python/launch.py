#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""launch.py MODEL --gpu NAME [--settings FILE]... [--set KEY=VALUE]... -- COMMAND...

Starts COMMAND when the job fits the card; else says what would fit, and fails with 1.

    launch.py llava-1.5-7b-hf --gpu a100-80g --settings zero2.json --set seq=2048 -- torchrun train.py
"""
import argparse
import os
import sys

import vramcast


def arguments():
    parser = argparse.ArgumentParser(description="starts a command when the job fits the card")
    parser.add_argument("model")
    parser.add_argument("--gpu", required=True)
    parser.add_argument("--settings", action="append", default=[], metavar="FILE")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="values")
    parser.add_argument("--require", choices=["likely", "certain"], default="likely")
    words, command = sys.argv[1:], []
    if "--" in words:
        at = words.index("--")
        words, command = words[:at], words[at + 1:]
    args = parser.parse_args(words)
    if not command:
        parser.error("no command behind --")
    return args, command


def main():
    args, command = arguments()
    values = dict(word.split("=", 1) for word in args.values)
    check = vramcast.check(args.model, args.gpu, values, settings=args.settings, require=args.require)
    print(check, file=sys.stderr, flush=True)
    if check:
        os.execvp(command[0], command)
    for advice in vramcast.advise(args.model, args.gpu, values, settings=args.settings)[:5]:
        if advice["result"] == "fits":
            print("  it would with %s" % " ".join("%s=%s" % c for c in advice["changes"].items()), file=sys.stderr)
    return 1


try:
    sys.exit(main())
except vramcast.VramError as error:
    sys.exit("launch.py: %s" % error)
