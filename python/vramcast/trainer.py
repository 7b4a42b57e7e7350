# SPDX-License-Identifier: Apache-2.0
"""A guard for transformers' Trainer: a job that will not fit does not start.

transformers and torch are not imported here; whoever has a Trainer has them.
"""
from __future__ import annotations

import os
import sys
import tempfile
import warnings
from typing import Any, Optional

from .model import Model
from .plan import AnyPath, Plan, Values
from .preflight import Verdict, passes
from .report import Report

# what precision= is called, by the weights' dtype and the autocast of TrainingArguments
PRECISIONS = {("float32", ""): "fp32", ("bfloat16", ""): "bf16", ("float16", ""): "fp16",
              ("float32", "bf16"): "bf16-mixed", ("bfloat16", "bf16"): "bf16-autocast",
              ("float32", "fp16"): "fp16-mixed"}


class WillNotFit(RuntimeError):
    """The job was refused; `report` says why."""

    def __init__(self, verdict: Verdict, report: Report) -> None:
        super().__init__(str(verdict))
        self.verdict, self.report = verdict, report


def plan_of(args: Any, model: Any = None, values: Optional[Values] = None) -> Plan:
    """The plan that TrainingArguments ask for.

    Parameters
    ----------
    args : transformers.TrainingArguments
    model : torch.nn.Module, optional
        The model as it is loaded: its dtype decides between precisions of the same arguments.
    values : mapping, optional
        Settings that win over what the arguments say: "seq", "train", "lora.rank" …

    Returns
    -------
    Plan
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "training_args.json")
        with open(path, "w", encoding="utf-8") as f:
            f.write(args.to_json_string())
        plan = Plan(settings=[path])
    world = int(getattr(args, "world_size", 1) or 1)
    sharded = plan.get("strategy") not in (None, "none", "ddp")
    if world > 1:
        plan.set("gpus", world)
        if not sharded:
            plan.set("strategy", "ddp")
    weights = str(getattr(model, "dtype", "")).rpartition(".")[2]
    autocast = "bf16" if getattr(args, "bf16", False) else "fp16" if getattr(args, "fp16", False) else ""
    if not sharded and (weights, autocast) in PRECISIONS:
        plan.set("precision", PRECISIONS[weights, autocast])
    plan.update(values or {})
    return plan


def device_name() -> str:
    """torch's name of the card of this process; the tables of cards know it."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        raise ValueError("no card at hand: gpu= says for which to plan (vramcast list gpus)")
    return str(torch.cuda.get_device_name())


class MemoryGuard:
    """A TrainerCallback that refuses to start a job that will not fit.

    Parameters
    ----------
    model : str or path
        The checkpoint, or its config.json.
    gpu : str, optional
        The card; default: that of this process.
    plan : mapping, optional
        Settings that win over the TrainingArguments', `{"seq": 2048}` above all: they do not know it.
    require : {"likely", "certain"}
        Whether a tight fit passes.
    action : {"raise", "warn"}
        What happens when it does not.

    Attributes
    ----------
    report : Report or None
        Of the last look.

    Examples
    --------
    >>> Trainer(..., callbacks=[MemoryGuard("llava-1.5-7b-hf", plan={"seq": 2048})])

    Notes
    -----
    An unknown peak is no reason to refuse, only to warn.
    """

    def __init__(self, model: AnyPath, *, gpu: Optional[str] = None, plan: Optional[Values] = None,
                 require: str = "likely", action: str = "raise") -> None:
        if action not in ("raise", "warn"):
            raise ValueError("action=%r: raise or warn" % action)
        passes("fits", require)
        self.model = Model(model)
        self.gpu, self.plan, self.require, self.action = gpu, dict(plan or {}), require, action
        self.report: Optional[Report] = None

    def verdict(self, args: Any, model: Any = None) -> Verdict:
        """Predicts the job of these TrainingArguments; before a model is loaded, too."""
        plan = plan_of(args, model, self.plan)
        if self.gpu or not plan.get("gpu"):
            plan.set("gpu", self.gpu or device_name())
        report = self.report = self.model.predict(plan)
        self._compare(model, report)
        return Verdict(report.gpu, report.verdict, passes(report.verdict, self.require), report.device,
                       report.gpu_capacity)

    def on_train_begin(self, args: Any, state: Any = None, control: Any = None, **kwargs: Any) -> None:
        """Called by the Trainer before the first step."""
        found = self.verdict(args, kwargs.get("model"))
        if found.passes:
            return
        assert self.report
        if self.action == "raise" and found.result != "cannot-tell":
            raise WillNotFit(found, self.report)
        warnings.warn("vramcast: %s" % found, stacklevel=2)

    @staticmethod
    def _compare(model: Any, report: Report) -> None:
        """Says when the plan trains something else than the model at hand does."""
        if model is None:
            return
        trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
        if trained and trained != report.parameters_trainable:  # 0: sharded, none is at hand
            warnings.warn("vramcast: the plan trains %d parameters, the model %d: say so in plan= (train, lora.rank …)"
                          % (report.parameters_trainable, trained), stacklevel=3)

    def __getattr__(self, name: str) -> Any:
        """Other events of a Trainer, of any version: nothing to do."""
        if name.startswith("on_"):
            return lambda *args, **kwargs: None
        raise AttributeError(name)
