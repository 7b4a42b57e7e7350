python llava/train/train.py --bits 4 --quant_type nf4 --lora_enable True --freeze_mm_mlp_adapter True \
  --mm_use_im_start_end False --bf16 True --model_max_length "$MAX_LENGTH" \
  --optim adafactor
