#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""export.py MODEL FILE: an image classifier as ONNX, with a batch of any size."""
import sys

import torch
from transformers import AutoConfig, AutoModelForImageClassification


class Logits(torch.nn.Module):
    """The model with a tensor as its answer."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, pixel_values):
        return self.model(pixel_values=pixel_values).logits


def main():
    path, out = sys.argv[1:]
    config = AutoConfig.from_pretrained(path)
    try:
        model = AutoModelForImageClassification.from_pretrained(path)
    except OSError:  # a config alone: weights of the right shapes
        model = AutoModelForImageClassification.from_config(config)
    pixels = torch.zeros(2, config.num_channels, config.image_size, config.image_size)
    torch.onnx.export(Logits(model).eval(), (pixels,), out, input_names=["pixel_values"], output_names=["logits"],
                      dynamic_shapes={"pixel_values": {0: torch.export.Dim.DYNAMIC}}, external_data=False, dynamo=True)


main()
