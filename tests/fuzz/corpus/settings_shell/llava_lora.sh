# a projector of its own, adapters in the decoder
RANK=128 ; export CUDA_VISIBLE_DEVICES=0,1,2,3
DATA="./data with a space"
ARGS="--lora_enable True --lora_r $RANK"     # split where it is used
deepspeed "llava/train/train.py" $ARGS --lora_alpha $((2 * RANK)) \
  --deepspeed ./zero2.json --image_folder "$DATA" \
  --mm_projector_type=mlp2x_gelu --mm_vision_select_layer -2 --bf16 \
  --per_device_train_batch_size 16 --model_max_length ${LENGTH:-4096} \
  --gradient_checkpointing False > log.txt 2>&1 &
