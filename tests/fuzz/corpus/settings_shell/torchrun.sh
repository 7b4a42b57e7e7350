#!/usr/bin/env bash
set -euo pipefail
: "${NODES:=2}"
cat <<'TEXT' > notes.txt
torchrun --nproc_per_node 99 ignored.py --output_dir here --bf16 True
TEXT
COMMON=(
  --output_dir out   # a comment between
  --per_device_train_batch_size "3"
)
COMMON+=(--bf16)
if [ -n "$1" ]; then
  echo "torchrun is what follows; --bf16"
fi
OMP_NUM_THREADS=1 torchrun --nnodes 2 --nproc-per-node=4 --rdzv_backend c10d -m \
  trainer.main "${COMMON[@]}" --optim 'adamw_torch' --gradient_checkpointing \
  --gradient_checkpointing_kwargs '{"use_reentrant": false}' --liger_kernel_config "{no json" \
  --seed $RANDOM
