#!/bin/bash
deepspeed --num_gpus 8 llava/train/train_mem.py \
    --deepspeed zero2.json \
    --model_name_or_path base --version plain \
    --mm_projector_type mlp2x_gelu --tune_mm_mlp_adapter True \
    --mm_vision_select_layer -2 \
    --bf16 True --tf32 True \
    --per_device_train_batch_size 32 \
    --gradient_accumulation_steps 1 \
    --model_max_length 2048 --gradient_checkpointing True
