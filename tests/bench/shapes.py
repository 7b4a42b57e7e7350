# SPDX-License-Identifier: Apache-2.0
"""shapes.py BENCH_SHAPES [--all]: parsing and shape inference beside onnx's own, in CPU time of one warm process each.

The models of ../shared/exports and ../shared/corpus with 50 nodes or more (a sample of every fifth, or all), then a chain
of up to 1,000,000 nodes.  onnx is given the bytes already read, and called in two ways: as people call it (load, then
infer_shapes), and its C++ function alone, from bytes to bytes.  Without the Python package `onnx` only
our own times are shown.  Figures are of one machine; what counts is the ratio.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.environ.get("VRAM_SHARED", os.path.join(ROOT, "..", "shared"))
SECONDS, LEAST = 0.02, 50


def ours(bench, paths):
    """path -> (microseconds, nodes, microseconds of opening alone)"""
    times = {}
    for i in range(0, len(paths), 200):
        done = subprocess.run([bench, str(SECONDS), *paths[i:i + 200]], capture_output=True, text=True)
        for line in done.stdout.splitlines():
            us, opening, nodes, path = line.split(" ", 3)
            times[path] = (float(us), int(nodes), float(opening))
    return times


def theirs(infer, data):
    """Microseconds; None when it refuses the model."""
    try:
        infer(data)
        begun, n = time.process_time(), 0
        while not n or time.process_time() - begun < SECONDS:
            infer(data)
            n += 1
    except Exception:
        return None
    return (time.process_time() - begun) / n * 1e6


def found(every):
    paths = []
    for folder in ("exports", "corpus"):
        for where, _, files in os.walk(os.path.join(SHARED, folder)):
            paths += [os.path.join(where, f) for f in files if f.endswith(".onnx")]
    return sorted(paths)[::every]


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def chain(path, nodes):
    """x [n, 64] through nodes of Add and Relu"""
    dims = field(1, field(2, b"n")) + field(1, b"\x08\x40")
    info = field(2, field(1, b"\x08\x01" + field(2, dims)))
    with open(path, "wb") as f:
        parts = []
        for i in range(nodes):
            a, b = b"t%d" % i, b"t%d" % (i + 1)
            op, more = (b"Add", field(1, a)) if i % 2 else (b"Relu", b"")
            parts.append(field(1, field(1, a) + more + field(2, b) + field(4, op)))
        graph = b"".join(parts) + field(2, b"g") + field(11, field(1, b"t0") + info) + field(12, field(1, b"t%d" % nodes) + info)
        f.write(b"\x08\x08" + field(7, graph) + field(8, b"\x10\x11"))


def ways():
    """Name and function of the ways to have onnx do it."""
    try:
        import onnx
        from onnx.onnx_cpp2py_export.shape_inference import infer_shapes
    except ImportError:
        return []
    return [("onnx load and infer_shapes", lambda data: onnx.shape_inference.infer_shapes(onnx.load_from_string(data))),
            ("onnx's C++ function", lambda data: infer_shapes(data, False, False, False))]


def compare(times, name, infer):
    ratios, a, b = [], 0, 0
    for path, (us, _, _) in times.items():
        with open(path, "rb") as f:
            other = theirs(infer, f.read())
        if other is not None:
            ratios.append((other / us, path))
            a, b = a + us, b + other
    ratios.sort()
    if ratios:
        print("%s on %d of them: %.1f ms, ours %.1f ms: %.1f times, median %.1f, least %.1f (%s)" % (
            name, len(ratios), b / 1e3, a / 1e3, b / a, statistics.median(r for r, _ in ratios), ratios[0][0],
            os.path.basename(ratios[0][1])))


def main():
    bench, every = sys.argv[1], 1 if "--all" in sys.argv else 5
    times = {p: t for p, t in ours(bench, found(every)).items() if t[1] >= LEAST}
    print("%d models of %d nodes or more: %.1f ms, of which opening %.1f ms" % (
        len(times), LEAST, sum(t[0] for t in times.values()) / 1e3, sum(t[2] for t in times.values()) / 1e3))
    for name, infer in ways():
        compare(times, name, infer)
    with tempfile.TemporaryDirectory() as folder:
        for nodes in (1000, 10000, 100000, 1000000):
            path = os.path.join(folder, "chain%d.onnx" % nodes)
            chain(path, nodes)
            us, _, opening = ours(bench, [path])[path]
            line = "chain of %7d nodes: %9.2f ms, %4.0f ns a node, of which opening %4.0f" % (
                nodes, us / 1e3, us * 1e3 / nodes, opening * 1e3 / nodes)
            for name, infer in ways()[1:]:
                with open(path, "rb") as f:
                    line += ", %s %.1f times" % (name, theirs(infer, f.read()) / us)
            print(line)


main()
