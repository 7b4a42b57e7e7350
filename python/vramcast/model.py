# SPDX-License-Identifier: Apache-2.0
"""Models: what is in a checkpoint."""
from __future__ import annotations

import dataclasses
import os
from typing import Any, Iterable, Iterator, Optional

from ._library import Finding, call, ffi, findings, lib, rows, text_of, view
from .plan import AnyPath, PlanLike, as_plan
from .report import Report


@dataclasses.dataclass(frozen=True)
class ModelComponent:
    """A part of a model in the order of the data: vision, projector, decoder, lm_head …"""

    name: str
    parameters: int
    parameter_bytes: int
    named_only: int
    modules: int


@dataclasses.dataclass(frozen=True)
class Module:
    """A module, parents first; number 0 is the model itself."""

    path: str
    class_name: str
    component: str
    parent: int
    depth: int
    repeat: int
    parameters: int
    parameter_bytes: int


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter or a buffer, in registration order."""

    path: str
    stored: str
    file: str
    dtype: str
    tied_to: str
    shape: tuple[int, ...]
    bytes: int
    buffer: bool


@dataclasses.dataclass(frozen=True)
class ConfigValue:
    """A config value that was used, and who said it: "config", "tensor", "default" or "derived"."""

    key: str
    value: str
    origin: str


class Model:
    """An opened model. Only headers are read, never weights; nothing is run.

    Parameters
    ----------
    path : str or path
        A checkpoint directory, a ``.safetensors`` file, or a ``config.json``.
    templates : str or path, optional
        Directory of further module templates.
    vision_tower : str or path, optional
        Directory of a tower that the checkpoint only names.

    Attributes
    ----------
    path, format, family, class_name, summary : str
    parameters, named_only, parameter_bytes : int
        Elements, tied weights once; bytes as stored.
    weight_files, modules_count : int
    activations_known : bool
        False: no template says what this architecture runs.

    Notes
    -----
    A model never changes: any number of threads may predict with one.
    """

    def __init__(self, path: AnyPath, *, templates: Optional[AnyPath] = None,
                 vision_tower: Optional[AnyPath] = None) -> None:
        options = ffi.new("vram_open_options *")
        options.size = ffi.sizeof("vram_open_options")
        kept = [ffi.NULL if p is None else ffi.new("char[]", os.fsencode(p)) for p in (templates, vision_tower)]
        options.templates_dir, options.vision_tower = kept
        out = ffi.new("vram_model **")
        call(lib.vram_model_open, out, os.fsencode(path), options)
        self._handle = ffi.gc(out[0], lib.vram_model_free)
        v = view("vram_model_view", lib.vram_model_get, self._handle)
        self.path, self.format, self.family = text_of(v.path), text_of(v.format), text_of(v.family)
        self.class_name, self.summary = text_of(v.class_name), text_of(v.summary)
        self.parameters, self.named_only = int(v.parameters), int(v.named_only)
        self.parameter_bytes, self.weight_files = int(v.parameter_bytes), int(v.weight_files)
        self.modules_count, self.activations_known = int(v.modules), bool(v.activations_known)

    def predict(self, plan: PlanLike = None, *, settings: Iterable[AnyPath] = ()) -> Report:
        """Runs a plan on the model, without data.

        Parameters
        ----------
        plan : Plan or mapping, optional
            Settings by key; what is missing is the model's or a default, and the report says so.
        settings : iterable of paths, optional
            Files of other tools, see `Plan`.

        Returns
        -------
        Report

        Raises
        ------
        VramError
            A plan that the model cannot run.
        """
        made = as_plan(plan, settings)
        out = ffi.new("vram_report **")
        call(lib.vram_predict, out, self._handle, made._handle)
        return Report(out[0], self._handle)

    @property
    def components(self) -> list[ModelComponent]:
        return list(rows(ModelComponent, "vram_component_view", lib.vram_model_component_count,
                         lib.vram_model_component, self._handle))

    def modules(self) -> Iterator[Module]:
        """All modules, parents first."""
        return rows(Module, "vram_module_view", lib.vram_model_module_count, lib.vram_model_module, self._handle)

    def tensors(self) -> Iterator[Parameter]:
        """All parameters and buffers."""
        for i in range(lib.vram_model_param_count(self._handle)):
            v: Any = view("vram_param_view", lib.vram_model_param, self._handle, i)
            yield Parameter(text_of(v.path), text_of(v.stored), text_of(v.file), text_of(v.dtype),
                            text_of(v.tied_to), tuple(int(v.dims[k]) for k in range(v.rank)), int(v.bytes),
                            bool(v.buffer))

    @property
    def config(self) -> list[ConfigValue]:
        return list(rows(ConfigValue, "vram_config_view", lib.vram_model_config_count, lib.vram_model_config,
                         self._handle))

    @property
    def findings(self) -> list[Finding]:
        return findings(lib.vram_model_finding_count, lib.vram_model_finding, self._handle)

    def __repr__(self) -> str:
        return "<Model %s: %s, %d parameters>" % (self.path, self.family or "unknown", self.parameters)


def predict(path: AnyPath, plan: PlanLike = None, *, settings: Iterable[AnyPath] = ()) -> Report:
    """Opens a model and runs a plan on it.

    Parameters
    ----------
    path : str or path
        See `Model`.
    plan, settings
        See `Model.predict`.

    Returns
    -------
    Report
    """
    return Model(path).predict(plan, settings=settings)
