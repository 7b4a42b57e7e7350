# parts by name: what is not named is frozen
torchrun --nproc_per_node=8 llava/train/train_mem.py \
  --mm_tunable_parts="mm_vision_tower,mm_language_model" --bf16 True \
  --attn_implementation sdpa --model_max_length 32768 \
  --per_device_train_batch_size 1 --gradient_accumulation_steps 2 --gradient_checkpointing True
