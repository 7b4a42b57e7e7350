#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# export.sh MODEL OUT [key=value]...: asks whether the exported model's runs will fit, exports it, and makes a
# record of what came out.
#   export.sh vit-base out gpu=t4-16g micro_batch=32
# Nothing is exported when the answer is no (exit code 1).  PYTHON has torch, transformers and onnx.
set -eu
model=$1 out=$2
shift 2
vramcast check "$model" mode=infer "$@"
mkdir -p "$out"
"${PYTHON:-python3}" "$(dirname "$0")/export.py" "$model" "$out/model.onnx"
printf '%s\n' "$out/model.onnx" | vramcast scan --stdin mode=infer "$@" --output "$out/model.jsonl"
