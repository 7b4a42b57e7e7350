# SPDX-License-Identifier: Apache-2.0
"""templates.py VRAMCAST [FOLDER...]: families that only a user's template describes.

tests/templates/FOLDER is handed over by --templates; every run of the real framework in its reference/
must be repeated event by event.  make_reference.py makes them.
"""
import glob
import os
import sys

from common import Command, ROOT, finish
from reference import compare


def main():
    command = Command(sys.argv[1])
    base = os.path.join(ROOT, "tests", "templates")
    right = total = 0
    for folder in sys.argv[2:] or sorted(os.listdir(base)):
        own = os.path.join(base, folder)
        if glob.glob(os.path.join(own, "reference", "*.json")):
            equal, tried = compare(command, os.path.join(own, "reference"), "--templates=" + own)
            right += equal
            total += tried
    finish("runs equal event by event by templates of a user's", right, total)


if __name__ == "__main__":
    main()
