#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tools/demo.sh: builds, and predicts the training peak of the bundled LLaVA-1.5-7B checkpoint.
set -eu
cd "$(dirname "$0")/.."
sh tools/setup.sh
build=${BUILD:-build}
set -- predict "$build/fixtures/llava-1.5-7b-hf" micro_batch=8 seq=2048 strategy=zero2 gpus=8 gpu=a100-80g
echo "\$ vramcast $*"
exec "$build/tools/vramcast" "$@"
