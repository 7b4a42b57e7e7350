# SPDX-License-Identifier: Apache-2.0
"""What a plan may ask of the real framework beyond the oracle's own keys.

Each function changes the process it runs in (classes are patched for good), so make_reference.py calls
it in a child of its own.  Liger's kernels are not launched: they write into tensors that its Python made.
"""
import re

import oracle
import torch
import tracker


def careful_sums():
    """The engine adds in place only what nobody else holds.  The oracle counts holders in Python; two nodes that
    wait for one and the same gradient hold it in C++: the sum's call itself makes four."""
    accumulate = tracker.Tracker.accumulate
    tracker.Tracker.accumulate = lambda self, args, kwargs: (
        accumulate(self, args, kwargs) if args[0]._use_count() <= 4 else None)


def unpacked_weight(module):
    """dequantize_module_weight, for fakes that are Params4bit by their attributes alone."""
    import bitsandbytes

    state = getattr(module.weight, "quant_state", None)
    return module.weight if state is None else bitsandbytes.functional.dequantize_4bit(module.weight.data, state)


def without_launches():
    """liger_kernel can be imported, thinks of an H100, and its Python runs; no kernel does."""
    import types

    import triton
    if triton.runtime.jit.JITFunction.run is no_launch:
        return
    torch.cuda.is_available = lambda: True
    card = types.SimpleNamespace(multi_processor_count=132, name="NVIDIA H100", major=9, minor=0)
    torch.cuda.get_device_properties = lambda device=None: card
    torch.cuda.device.__enter__ = torch.cuda.device.__exit__ = lambda self, *args: None
    triton.runtime.jit.JITFunction.run = triton.runtime.autotuner.Autotuner.run = no_launch
    import liger_kernel.transformers  # noqa: F401

    torch.cuda.is_available = lambda: False
    torch.equal = lambda a, b: False  # is the gradient of the loss 1? it is 1 over the number of items
    addmm = torch.addmm  # into what is there already: fake tensors have no kernel with a dtype of its own
    torch.addmm = lambda *args, **more: more["out"] if "out_dtype" in more else addmm(*args, **more)
    item = torch.Tensor.item  # labels that count: only a factor
    torch.Tensor.item = lambda self: 1 if self.dtype == torch.int64 else item(self)


def no_launch(self, *args, **kwargs):
    return None


def liger():
    """Trainer(use_liger_kernel=True): after PEFT, on the model inside."""
    without_launches()
    from liger_kernel.transformers import _apply_liger_kernel_to_instance

    keep_pictures()
    apply_training = oracle.apply_training

    def patched(model, plan, kind, device="cuda"):
        model = apply_training(model, plan, kind, device)
        _apply_liger_kernel_to_instance(
            model=model.get_base_model() if hasattr(model, "get_base_model") else model)
        return model
    oracle.apply_training = patched


def selective():
    """Attention between the projections under torch's checkpoint: what Megatron calls core_attn, which is not
    handed what transformers passes on to every layer."""
    from torch.utils.checkpoint import checkpoint
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
    from transformers.models.llama.modeling_llama import eager_attention_forward

    for name, function in (("sdpa", sdpa_attention_forward), ("eager", eager_attention_forward)):
        def run(module, *args, function=function, position_ids=None, num_items_in_batch=None, **more):
            return checkpoint(function, module, *args, use_reentrant=False, preserve_rng_state=False, **more)
        ALL_ATTENTION_FUNCTIONS[name] = run


def keep_pictures():
    """Records of liger-kernel 0.8.5 lack the field for pictures that transformers 5 hands over."""
    from liger_kernel.transformers.model import output_classes

    for name in dir(output_classes):
        record = getattr(output_classes, name)
        if name.endswith("OutputWithPast") and isinstance(record, type) and "image_hidden_states" not in getattr(
                record, "__dataclass_fields__", {"image_hidden_states": 0}):
            def make(self, *args, image_hidden_states=None, init=record.__init__, **fields):
                init(self, *args, **fields)
                self.pictures = image_hidden_states
            record.__init__ = make


def adapters(dora=False, bias="none", modules_to_save=None, rank_pattern=None):
    """LoraConfig with more in it; biases that train are told behind the oracle's own freezing."""
    import peft
    import peft.tuners.lora.dora

    peft.tuners.lora.dora.dequantize_module_weight = unpacked_weight
    config, apply_training = peft.LoraConfig, oracle.apply_training
    more = {"use_dora": dora, "bias": bias, "modules_to_save": modules_to_save,
            "rank_pattern": rank_pattern or {}}
    peft.LoraConfig = lambda **given: config(**given, **more)

    def patched(model, plan, kind, device="cuda"):
        move = torch.nn.Module.to
        torch.nn.Module.to = lambda self, *args, **more: move(self, *args, **more) if more else self  # fakes cannot be swapped
        try:
            model = apply_training(model, plan, kind, device)
        finally:
            torch.nn.Module.to = move
        for name, param in model.named_parameters():
            if ".modules_to_save." in name or (bias == "all" and name.endswith("bias")):
                param.requires_grad_(True)
            if bias == "lora_only" and re.search(r"\.base_layer\.bias$", name):
                param.requires_grad_(True)
        return model
    oracle.apply_training = patched
