#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""guard.py DIR: a Trainer that asks before it starts. Trains a tiny model on the CPU for one step, then is refused.

Needs transformers, accelerate, torch.
"""
import os
import sys

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

from vramcast.trainer import MemoryGuard, WillNotFit

SEQ = 32


class Words(torch.utils.data.Dataset):
    """Sequences of one length."""

    def __len__(self):
        return 4

    def __getitem__(self, i):
        ids = (torch.arange(SEQ) + i) % 128
        return {"input_ids": ids, "labels": ids}


def trainer(folder, batch):
    model = LlamaForCausalLM(LlamaConfig(vocab_size=128, hidden_size=64, intermediate_size=128, num_hidden_layers=2,
                                         num_attention_heads=4, num_key_value_heads=2))
    model.save_pretrained(os.path.join(folder, "model"))
    args = TrainingArguments(os.path.join(folder, "out"), per_device_train_batch_size=batch, max_steps=1, use_cpu=True,
                             report_to=[], save_strategy="no", disable_tqdm=True)
    # on a machine with a card gpu= is not needed: the guard asks torch for its name
    guard = MemoryGuard(os.path.join(folder, "model"), gpu="t4-16g", plan={"seq": SEQ})
    return Trainer(model=model, args=args, train_dataset=Words(), callbacks=[guard]), guard


def main():
    folder = sys.argv[1]
    job, guard = trainer(folder, batch=2)
    job.train()
    print("trained %d step; %d bytes of tensors were predicted" % (job.state.global_step,
                                                                   guard.report.allocated.expected))
    job, _ = trainer(folder, batch=2**17)
    try:
        job.train()
    except WillNotFit as error:
        print("refused:", error)


main()
