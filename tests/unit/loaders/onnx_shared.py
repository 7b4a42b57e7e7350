# SPDX-License-Identifier: Apache-2.0
"""The ONNX loader against shared files: onnx_shared.py DUMP SHARED_DIR

Bad files as expected.csv says, as far as a loader decides it; the file that amplifies memory, within a
bound; every public model and export opened, or refused for one of the reasons below.
"""
import csv
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

# what only operators' rules can see
OF_OPERATORS = {"attributes", "arithmetic"}
OPERATOR_FILES = {"func/missing_function.onnx", "graph/missing_required_input.onnx", "graph/empty_required_input.onnx",
                  "graph/unknown_op.onnx"}
OURS_ANYWAY = {"attr/type_says_int_field_is_string.onnx", "attr/duplicate.onnx"}
MEMORY = 64 << 10  # KiB

# public files that are refused, and why that is right
REFUSED = [
    (r"_lfs_pointers/", "a Git LFS pointer"),
    (r"app-with-deployment/models/a\.onnx", "an empty file"),
    (r"bad_graph_with_dup_value_info", "two inputs of a graph have this name"),
    (r"attention_double_head_bias_mask_past_attn_bias_shared_past_seq_len_test", "reads 'past_sequence_length'"),
    # the fp16 converter renamed outputs of branches: they are the outer values that the If makes
    (r"transformersjs-tiny-llava/onnx/decoder_model_merged_(fp16|q4f16)", "feed each other in a circle"),
]


def run(dump, paths):
    out = subprocess.run([dump, "-q"] + paths, stdout=subprocess.PIPE, timeout=600)
    if out.returncode not in (0, 3):
        sys.exit("%s: exit %d" % (paths, out.returncode))
    return out.stdout.decode("utf-8", "replace").splitlines()


def bad_files(dump, shared, work):
    wrong = n = 0
    bad = os.path.join(work, "bad")
    shutil.copytree(os.path.join(shared, "corpus-bad"), bad)
    os.symlink("../base_ok.onnx", os.path.join(bad, "ext", "link.bin"))
    for row in csv.DictReader(open(os.path.join(bad, "expected.csv"))):
        name = row["file"]
        if (row["class"] in OF_OPERATORS and name not in OURS_ANYWAY) or name in OPERATOR_FILES:
            continue
        n += 1
        line = run(dump, [os.path.join(bad, name)])[0]
        if line.split()[0] != row["expected"]:
            wrong += 1
            print("%s: expected %s: %s" % (name, row["expected"], line))
    print("%d bad files, %d wrong" % (n, wrong))
    return wrong


def amplified(dump, shared, work):
    wrong = 0
    for kind in ("tensor", "node", "input"):
        path = os.path.join(work, kind + ".onnx")
        subprocess.check_call([sys.executable, os.path.join(shared, "corpus-bad", "make_amplifier.py"), path, "10", kind],
                              stdout=subprocess.DEVNULL)
        wrong += run(dump, [path])[0].split()[0] == "ok"
    # the largest of all children so far; sanitizers take more of their own
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    if used > MEMORY and not subprocess.run(["grep", "-q", "__asan_init", dump]).returncode == 0:
        print("%d KiB of memory" % used)
        wrong += 1
    return wrong


def public(dump, folder, work):
    paths = sorted(os.path.join(base, name) for base, _, names in os.walk(folder) for name in names if name.endswith(".onnx"))
    wrong, seen = 0, 0
    for start in range(0, len(paths), 500):
        for line in run(dump, paths[start:start + 500]):
            seen += 1
            if line.startswith("error ") and not any(re.search(where, line) and why in line for where, why in REFUSED):
                wrong += 1
                print(line)
    print("%s: %d files, %d wrongly refused" % (os.path.basename(folder), seen, wrong))
    return wrong + (seen != len(paths))


def main():
    dump, shared = sys.argv[1:]
    if not os.path.isdir(os.path.join(shared, "corpus-bad")):
        sys.exit(77)
    with tempfile.TemporaryDirectory() as work:
        wrong = bad_files(dump, shared, work) + amplified(dump, shared, work)
        for name in ("corpus", "exports"):
            folder = os.path.join(shared, name)
            if os.path.isdir(folder):
                wrong += public(dump, folder, work)
    sys.exit(1 if wrong else 0)


main()
