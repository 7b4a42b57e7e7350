torchrun --nproc_per_node 2 train.py --output_dir out --deepspeed ../configs/zero2.json --bf16 True
