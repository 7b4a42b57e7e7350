# a launch in variables, partly known
GPUS=4
export LAUNCHER="accelerate launch \
    --num_processes $((2 * GPUS)) \
    --main_process_ip $HEAD_NODE --multi_gpu \
    "
export PYTORCH_CUDA_ALLOC_CONF='expandable_segments:True'
ARGS=" --output_dir out --per_device_train_batch_size $(expr 32 / $GPUS / 2)
  --gradient_accumulation_steps $ROUNDS --bf16 True"
CMD="$LAUNCHER train.py $ARGS"
srun --nodes 2 $CMD
