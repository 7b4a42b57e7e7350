# SPDX-License-Identifier: Apache-2.0
"""cdef.py VRAM_H OUTPUT: the public header as the text that cffi reads, so that it is written once."""
import re
import sys


def declarations(header):
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    text = re.sub(r"#ifdef __cplusplus\n.*?#endif\n", "", text, flags=re.S)
    text = re.sub(r"(?m)^#.*\n", "", text).replace("VRAM_API ", "")
    return re.sub(r"\n{2,}", "\n", text).strip() + "\n"


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        header = f.read()
    version = re.search(r"#define VRAM_API_VERSION (\d+)", header).group(1)
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        f.write('"""Made from vram.h by cdef.py."""\n\nAPI_VERSION = %s\nNO_OFFSET = 2**64 - 1\nCDEF = """\n%s"""\n'
                % (version, declarations(header)))


main()
