# what the scheduler sets is not known here
GPUS=${SLURM_GPUS:-4}
srun -N 2 --ntasks-per-node=1 torchrun $DISTRIBUTED_ARGS train.py --output_dir out \
  --per_device_train_batch_size $BATCH --gradient_accumulation_steps $GPUS --bf16 True "$@"
