# flags of several values, and the environment
NPROC_PER_NODE=4 \
MAX_PIXELS=1003520 \
CUDA_VISIBLE_DEVICES=0,1,2,3 \
swift sft \
    --model some/model \
    --train_type lora \
    --target_modules q_proj v_proj \
    --lora_rank 16 --lora_dropout 0 \
    --torch_dtype bfloat16 \
    --per_device_train_batch_size 2 \
    --gradient_accumulation_steps 8 \
    --freeze_vit false --vit_gradient_checkpointing false \
    --attn_impl flash_attn --max_length 4096 \
    --deepspeed zero2 \
    --split_dataset_ratio 0.01
