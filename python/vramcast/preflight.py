# SPDX-License-Identifier: Apache-2.0
"""The pre-flight: will a run fit these cards?"""
from __future__ import annotations

import dataclasses
from typing import Iterable, Sequence, Union

from ._library import Range
from .model import Model
from .plan import AnyPath, PlanLike, as_plan

REQUIREMENTS = ("likely", "certain")


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What one card says.

    Attributes
    ----------
    gpu : str
    result : str
        "fits", "tight", "does-not-fit" or "cannot-tell".
    passes : bool
        As `require` has it.
    device : Range
        Bytes on the device; zero when the peak is unknown.
    capacity : int
        Usable bytes of the card.
    """

    gpu: str
    result: str
    passes: bool
    device: Range
    capacity: int

    def __str__(self) -> str:
        if self.result == "cannot-tell":
            return "%s: cannot tell" % self.gpu
        return "%s: %s, %.2f GiB expected, %.2f GiB at most, of %.2f GiB" % (
            self.gpu, self.result, self.device.expected / 2**30, self.device.high / 2**30, self.capacity / 2**30)


@dataclasses.dataclass(frozen=True)
class Check:
    """Verdicts of all cards; true when every one passes."""

    verdicts: tuple[Verdict, ...]

    @property
    def passes(self) -> bool:
        return all(v.passes for v in self.verdicts)

    def __bool__(self) -> bool:
        return self.passes

    def __str__(self) -> str:
        return "\n".join(map(str, self.verdicts))


def passes(result: str, require: str) -> bool:
    """Whether a verdict is good enough."""
    if require not in REQUIREMENTS:
        raise ValueError("require=%r: likely or certain" % require)
    return result == "fits" or (result == "tight" and require == "likely")


def check(model: Union[Model, AnyPath], gpus: Union[str, Sequence[str]], plan: PlanLike = None, *,
          settings: Iterable[AnyPath] = (), require: str = "likely") -> Check:
    """Asks whether a run fits cards.

    Parameters
    ----------
    model : Model or path
    gpus : str or sequence of str
        Names of `table("gpus")`, or of torch's device.
    plan, settings
        See `Model.predict`.
    require : {"likely", "certain"}
        Whether a tight fit, where only the expected figure is below the capacity, passes.

    Returns
    -------
    Check
        True when all cards pass. An unknown peak never does.
    """
    passes("fits", require)
    opened = model if isinstance(model, Model) else Model(model)
    made = as_plan(plan, settings).copy()
    verdicts = []
    for gpu in [gpus] if isinstance(gpus, str) else gpus:
        made.set("gpu", gpu)
        report = opened.predict(made)
        verdicts.append(Verdict(report.gpu, report.verdict, passes(report.verdict, require), report.device,
                                report.gpu_capacity))
    return Check(tuple(verdicts))
