# SPDX-License-Identifier: Apache-2.0
"""Plans: the settings of a run."""
from __future__ import annotations

import json
import os
from typing import Iterable, Mapping, Optional, Sequence, Union

from ._library import Finding, bytes_of, call, ffi, findings, lib, text_of, view

Value = Union[str, int, float, bool, Sequence[Union[str, int, float]]]
Values = Mapping[str, Value]
AnyPath = Union[str, "os.PathLike[str]"]


class Plan:
    """The settings of one run, by the keys of `vramcast list settings`.

    Parameters
    ----------
    values : mapping, optional
        ``{"micro_batch": 8, "train.vision": "frozen", "padded": True}``; they win over `settings`.
    settings : iterable of paths, optional
        Files of other tools: DeepSpeed, accelerate, TrainingArguments, LLaMA-Factory, axolotl, launch scripts.

    Raises
    ------
    VramError
        An unknown key, a value that its key does not take, a file that cannot be read.

    Notes
    -----
    Any number of threads may read a plan while none sets.
    """

    def __init__(self, values: Optional[Values] = None, *, settings: Iterable[AnyPath] = ()) -> None:
        out = ffi.new("vram_plan **")
        call(lib.vram_plan_create, out)
        self._handle = ffi.gc(out[0], lib.vram_plan_free)
        self._keys = [text_of(view("vram_setting_view", lib.vram_setting, i).key)
                      for i in range(lib.vram_setting_count())]
        self.update(values or {})
        self.read(settings)

    def read(self, settings: Iterable[AnyPath]) -> None:
        """Sets what files of other tools say; keys that are given already stay as they are."""
        files = [ffi.new("char[]", os.fsencode(p)) for p in settings]
        if files:
            call(lib.vram_plan_set_files, self._handle, ffi.new("char *[]", files), len(files))

    def set(self, key: str, value: Value) -> None:
        """Sets one key.

        Parameters
        ----------
        key : str
        value : str, int, float, bool or a sequence
        """
        self.update({key: value})

    def update(self, values: Values) -> None:
        """Sets several keys; all of them or, when one is refused, none."""
        if values:
            text = bytes_of(json.dumps({k: list(v) if isinstance(v, (tuple, set)) else v for k, v in values.items()},
                                       ensure_ascii=False))
            call(lib.vram_plan_set_json, self._handle, text, len(text))
            self._keys += [key for key in values if key not in self._keys]  # "dim.batch"

    def get(self, key: str) -> Optional[str]:
        """The text of a key that was given; None when it was not."""
        found = lib.vram_plan_get(self._handle, bytes_of(key))
        return None if found == ffi.NULL else text_of(found)

    def by(self, key: str) -> Optional[str]:
        """Which settings file gave a key, "zero2.json:12"; None when no file did."""
        found = lib.vram_plan_by(self._handle, bytes_of(key))
        return None if found == ffi.NULL else text_of(found)

    def copy(self) -> "Plan":
        """A second plan with the same values: to try a change."""
        new = Plan.__new__(Plan)
        out = ffi.new("vram_plan **")
        call(lib.vram_plan_copy, out, self._handle)
        new._handle = ffi.gc(out[0], lib.vram_plan_free)
        new._keys = list(self._keys)
        return new

    def given(self) -> dict[str, str]:
        """Keys that were given, with their texts."""
        return {k: v for k in self._keys for v in [self.get(k)] if v is not None}

    @property
    def findings(self) -> list[Finding]:
        """What was noted about settings files."""
        return findings(lib.vram_plan_finding_count, lib.vram_plan_finding, self._handle)

    def __repr__(self) -> str:
        return "Plan(%s)" % ", ".join("%s=%s" % item for item in self.given().items())


PlanLike = Union[Plan, Values, None]


def as_plan(plan: PlanLike, settings: Iterable[AnyPath] = ()) -> Plan:
    """A plan as it is, or one made of a mapping; with settings files always a new one."""
    if not isinstance(plan, Plan):
        return Plan(plan, settings=settings)
    files = list(settings)
    if files:
        plan = plan.copy()
        plan.read(files)
    return plan
