# SPDX-License-Identifier: Apache-2.0
"""templates.py VRAMCAST [FOLDER...]: families that only a user's template describes.

tests/templates/FOLDER is handed over by --templates; every reference result of its models must be
repeated to the byte, and event by event where there is a list.
"""
import os
import sys

from common import Command, ROOT, finish, settings, shared
from events import compare_events
from train import cases, differences

MODELS = {"phi": ["phi-2"], "gpt_neox": ["pythia-1b"], "opt": ["opt-1.3b", "tiny-opt"],
          "gpt2": ["gpt2", "tiny-gpt2"]}


def main():
    command = Command(sys.argv[1])
    right = total = lists = 0
    for folder in sys.argv[2:] or MODELS:
        own = "--templates=" + os.path.join(ROOT, "tests", "templates", folder)
        for family, name, case in cases(MODELS[folder]):
            config = shared("golden", "train", family, "config.json")
            report, said = command.report(config, *settings(case["plan"]), own)
            bad = differences(report, case["results"], case["plan"]) if report else {"refused": said}
            events = os.path.join(os.path.dirname(config), name + ".events.jsonl.gz")
            if not bad and os.path.exists(events):
                said = compare_events(command, config, case["plan"], events, own)
                bad = {"events": said} if said else {}
                lists += 1
            total += 1
            right += not bad
            if bad:
                print(folder, family, name, dict(list(bad.items())[:8]))
    finish("reference results equal to the byte by templates of a user's (%d with their events)" % lists,
           right, total)


if __name__ == "__main__":
    main()
