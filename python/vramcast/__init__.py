# SPDX-License-Identifier: Apache-2.0
"""Peak GPU memory of training and inference, predicted from a model's files.

>>> import vramcast
>>> report = vramcast.predict("llava-1.5-7b-hf", {"micro_batch": 8, "seq": 2048, "gpu": "a100-80g"})
>>> report.verdict, report.device.expected
"""
from ._library import Finding, Range, VramError, lib, table, text_of
from .command import advise, command, fit, scan
from .model import ConfigValue, Model, ModelComponent, Module, Parameter, predict
from .plan import Plan
from .preflight import Check, Verdict, check
from .report import Component, Phase, Report, Setting, Storage

__version__ = text_of(lib.vram_version())
__all__ = ["Check", "Component", "ConfigValue", "Finding", "Model", "ModelComponent", "Module", "Parameter", "Phase",
           "Plan", "Range", "Report", "Setting", "Storage", "Verdict", "VramError", "advise", "check", "command",
           "fit", "predict", "scan", "table"]
