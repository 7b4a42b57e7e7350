# SPDX-License-Identifier: Apache-2.0
"""Reports: what a prediction says."""
from __future__ import annotations

import dataclasses
import json
from typing import Any, Iterator

from ._library import Finding, Range, call, ffi, findings, lib, rows, text_of, view

FACTORS = ("parameters", "gradients", "optimizer", "activations", "temporaries", "inputs", "buffers",
           "workspace", "rounding")


@dataclasses.dataclass(frozen=True)
class Component:
    """Bytes of a component at the peak; `saved`: what it keeps for backward after the first forward."""

    name: str
    parameter_count: int
    trainable_count: int
    named_only: int
    parameters: int
    gradients: int
    optimizer: int
    activations: int
    saved: int


@dataclasses.dataclass(frozen=True)
class Phase:
    """A phase of the run and the bytes of tensors at its highest and at its end."""

    name: str
    peak: int
    end: int


@dataclasses.dataclass(frozen=True)
class Setting:
    """A setting that was decided: its origin is "given", "model", "default" or "assumed"."""

    key: str
    value: str
    origin: str
    by: str


@dataclasses.dataclass(frozen=True)
class Storage:
    """An allocation of the run."""

    bytes: int
    module: str
    component: str
    op: str
    what: str
    category: str
    rule: str
    made: str
    gone: str
    at_peak: int


class Report:
    """What a run takes. Made by `Model.predict`.

    Attributes
    ----------
    peak_known : bool
        False for an architecture that no template describes: the meters are zero then, parameters,
        gradients and optimizer state exact.
    allocated, reserved, device, host : Range
        torch's ``memory_allocated`` and ``memory_reserved``, what ``nvidia-smi`` shows, host memory of offloading.
    peak_phase, peak_owner : str
    factors : dict
        Bytes at the peak by what they are for; they add up to ``allocated.expected``.
    saved : int
        Bytes kept for backward at the end of the first forward.
    parameters_total, parameters_trainable, named_only, events : int
    gpu, verdict, estimator : str
        The verdict is "fits", "tight", "does-not-fit", "cannot-tell", or "" without a card.
    gpu_capacity : int
        Usable bytes of the card; 0 without one.
    """

    def __init__(self, handle: Any, model: Any) -> None:
        # the destructor holds the model, which has to be freed last
        self._handle = ffi.gc(handle, lambda p, kept=model: lib.vram_report_free(p))
        v = view("vram_report_view", lib.vram_report_get, self._handle)
        self.peak_known = bool(v.peak_known)
        self.allocated, self.reserved, self.device, self.host = (
            Range(int(r.low), int(r.expected), int(r.high)) for r in (v.allocated, v.reserved, v.device, v.host))
        self.peak_phase, self.peak_owner = text_of(v.peak_phase), text_of(v.peak_owner)
        self.factors = {name: int(getattr(v, name)) for name in FACTORS}
        self.saved, self.events = int(v.saved), int(v.events)
        self.parameters_total, self.parameters_trainable = int(v.parameters_total), int(v.parameters_trainable)
        self.named_only = int(v.named_only)
        self.gpu, self.gpu_capacity = text_of(v.gpu), int(v.gpu_capacity)
        self.verdict, self.estimator = text_of(v.verdict_name), text_of(v.estimator)

    @property
    def components(self) -> list[Component]:
        return list(rows(Component, "vram_report_component_view", lib.vram_report_component_count,
                         lib.vram_report_component, self._handle))

    @property
    def phases(self) -> list[Phase]:
        return list(rows(Phase, "vram_phase_view", lib.vram_report_phase_count, lib.vram_report_phase, self._handle))

    @property
    def settings(self) -> list[Setting]:
        return list(rows(Setting, "vram_report_setting_view", lib.vram_report_setting_count,
                         lib.vram_report_setting, self._handle))

    @property
    def findings(self) -> list[Finding]:
        return findings(lib.vram_report_finding_count, lib.vram_report_finding, self._handle)

    def storages(self) -> Iterator[Storage]:
        """Every allocation of the run, in order."""
        return rows(Storage, "vram_storage_view", lib.vram_report_storage_count, lib.vram_report_storage,
                    self._handle)

    def to_json(self) -> str:
        """The report as JSON, schema "vramcast.report/1"; the same bytes for the same input."""
        parts: list[bytes] = []

        @ffi.callback("int(void *, char *, size_t)")  # type: ignore[untyped-decorator]
        def write(_: Any, text: Any, n: int) -> int:
            parts.append(bytes(ffi.buffer(text, n)))
            return 0

        call(lib.vram_report_json, self._handle, ffi.cast("vram_write_fn", write), ffi.NULL)
        return b"".join(parts).decode("utf-8", "surrogateescape")

    def to_dict(self) -> dict[str, Any]:
        """The report as `json.loads` gives it (docs/report.md)."""
        return dict(json.loads(self.to_json()))

    def __repr__(self) -> str:
        if not self.peak_known:
            return "<Report: the peak is unknown>"
        return "<Report: %.3f GiB of tensors, %.3f GiB on the device, in %s%s>" % (
            self.allocated.expected / 2**30, self.device.expected / 2**30, self.peak_phase,
            "; %s %s" % (self.gpu, self.verdict) if self.verdict else "")
