accelerate launch --config_file accelerate_fsdp.yaml --num_processes 16 --mixed_precision fp16 \
  -m axolotl.cli.train axolotl_fsdp.yaml
