python -m torch.distributed.run --nproc_per_node gpu train.py --output_dir x --deepspeed deeper/zero1.json
