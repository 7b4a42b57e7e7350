swift sft --model some/model --tuner_type full --freeze_llm true --freeze_aligner false \
  --quant_bits 4 --quant_method hqq --max_length 2048
