deepspeed --include "one:0,1,2,3@two:0,1" --master_port 29501 train.py --output_dir out \
  --deepspeed '{"zero_optimization": {"stage": 2}, "bf16": {"enabled": "auto"}}' --bf16 \
  --gradient_accumulation_steps=4 --optim=adamw_torch_fused --max_grad_norm=0
accelerate launch --use_deepspeed --zero_stage 3 other.py --output_dir out --bf16
