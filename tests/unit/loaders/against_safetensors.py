# SPDX-License-Identifier: Apache-2.0
"""The header reader against the reference implementation: against_safetensors.py DUMP [SEED [CASES]]

Random headers, most of them damaged, go to both. Run by hand where Python has safetensors 0.8.
They may differ only where header.h says so: a name that stands twice, a dimension above 2^63 - 1.
"""
import json, os, random, struct, subprocess, sys, tempfile

from safetensors import deserialize

BITS = {"F32": 32, "BF16": 16, "I64": 64, "U8": 8, "BOOL": 8, "F8_E4M3": 8, "F4": 4, "F6_E2M3": 6,
        "C64": 64, "F8_E8M0": 8, "U16": 16, "F64": 64, "F8_E5M2FNUZ": 8}
PIECES = [b"{", b"}", b"[", b"]", b",", b":", b'"', b"0", b"-1", b"1.0", b"1e2", b"null", b"NaN", b"\\",
          b"\\u0041", b"\\ud800", b"\x00", b" ", b"\xff", b"\xc3\xa9", b"\xed\xa0\x80", b"01", b"-0",
          b"18446744073709551615", b"9223372036854775808", b'"dtype"', b'"F128"', b"\x1f", b"/**/", b"'"]
INTENDED = ("stands twice in the header", "does not fit 63 bits")


def header(rng):
    items, end = [], 0
    if rng.random() < 0.5:
        items.append('"__metadata__":' + rng.choice(['{"format":"pt"}', "{}", "null", '{"a":1}', "[]"]))
    for i in range(rng.randrange(5)):
        dtype, shape, n = rng.choice(list(BITS)), [rng.choice([0, 1, 2, 3, 8]) for _ in range(rng.randrange(4))], 1
        for dim in shape:
            n *= dim
        if n * BITS[dtype] % 8 and rng.random() < 0.9:
            dtype = "U8"
        size = n * BITS[dtype] // 8
        fields = ['"dtype":"%s"' % dtype, '"shape":%s' % json.dumps(shape), '"data_offsets":[%d,%d]' % (end, end + size)]
        if rng.random() < 0.2:
            rng.shuffle(fields)
        if rng.random() < 0.1:
            fields.append(rng.choice(['"x":1', '"y":[[1,{"a":null}]]', '"dtype":"F32"', '"z":1e999', '"r":"\\ud800"']))
        items.append('"%s%d":{%s}' % (rng.choice(["a", "w.x", "l\u00e9"]), i, ",".join(fields)))
        end += size
    if rng.random() < 0.3:
        rng.shuffle(items)
    return bytearray(("{" + ",".join(items) + "}" + " " * rng.randrange(9)).encode()), end


def damage(rng, text):
    for _ in range(rng.choice([0, 1, 1, 2])):
        digits = [i for i, c in enumerate(text) if 48 <= c <= 57]
        at = rng.randrange(len(text) + 1)
        kind = rng.random()
        if digits and kind < 0.5:
            text[rng.choice(digits)] = 48 + rng.randrange(10)
        elif kind < 0.7:
            text[at:at] = rng.choice(PIECES)
        elif kind < 0.85:
            del text[at:at + rng.randrange(1, 6)]
        elif at < len(text):
            text[at] = rng.randrange(256)
    return bytes(text)


def refuses(data):
    try:
        deserialize(data)
        return ""
    except Exception as error:
        return str(error) or "refused"


def main(dump, seed="1", cases="3000"):
    rng, wrong, accepted = random.Random(int(seed)), 0, 0
    with tempfile.TemporaryDirectory() as top:
        path = os.path.join(top, "x.safetensors")
        for _ in range(int(cases)):
            text, size = header(rng)
            text = damage(rng, text)
            length = max(0, len(text) + rng.choice([0] * 20 + [-1, 1, 10**9]))
            data = struct.pack("<Q", length) + text + bytes(max(0, size + rng.choice([0] * 12 + [-1, 1])))
            with open(path, "wb") as f:
                f.write(data)
            p = subprocess.run([dump, "-q", path], stdout=subprocess.PIPE)
            said = p.stdout.decode("utf-8", "replace")
            ours = p.returncode != 0 or "FILE_SHORT" in said or "FILE_LONG" in said
            theirs = refuses(data)
            accepted += not theirs
            if ours != bool(theirs) and not any(t in said for t in INTENDED):
                wrong += 1
                print("theirs: %s\nours: %s%r" % (theirs or "accepts", said, data))
    print("%s cases, %d accepted, %d differ" % (cases, accepted, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
