export NPROC_PER_NODE=2 NNODES=4
FORCE_TORCHRUN=1 llamafactory-cli train llamafactory_lora.yaml lora_rank=32
