# SPDX-License-Identifier: Apache-2.0
"""libvramcast through cffi: finding it, views as dataclasses, errors as exceptions."""
from __future__ import annotations

import dataclasses
import glob
import os
import sysconfig
from typing import Any, Iterator, Optional, Type, TypeVar

import cffi

from ._cdef import API_VERSION, CDEF, NO_OFFSET

T = TypeVar("T")

ffi: Any = cffi.FFI()
ffi.cdef(CDEF)


def _candidates() -> Iterator[str]:
    """Where the library may be: as told, in the wheel, where the system keeps libraries."""
    if os.environ.get("VRAMCAST_LIBRARY"):
        yield os.environ["VRAMCAST_LIBRARY"]
        return
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for folder in dict.fromkeys([here, sysconfig.get_path("platlib")]):
        yield from sorted(glob.glob(os.path.join(glob.escape(folder), ".vramcast.mesonpy.libs", "libvramcast.so*")))
    yield "libvramcast.so.0"


def _load() -> Any:
    tried = []
    for path in _candidates():
        try:
            library = ffi.dlopen(path)
        except OSError as error:
            tried.append(str(error))
            continue
        if library.vram_api_version() < API_VERSION:
            tried.append("%s: is older than this package" % path)
            continue
        return library
    raise ImportError("vramcast: no libvramcast (VRAMCAST_LIBRARY names one): " + "; ".join(tried))


lib: Any = _load()


class VramError(Exception):
    """What the library could not do.

    Attributes
    ----------
    code : str
        "format", "notfound", "argument" … (`vram_code_name`).
    where : str
        File and place, "model.safetensors: tensor 'lm_head.weight'"; may be "".
    text : str
        One line: what is wrong and what to do.
    offset : int or None
        Byte in the file that `where` names.
    """

    def __init__(self, code: str, where: str, text: str, offset: Optional[int]) -> None:
        super().__init__((where + ": " if where else "") + text)
        self.code, self.where, self.text, self.offset = code, where, text, offset


def text_of(pointer: Any) -> str:
    """A C string; paths may hold any bytes."""
    return "" if pointer == ffi.NULL else str(ffi.string(pointer).decode("utf-8", "surrogateescape"))


def bytes_of(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def call(function: Any, *args: Any) -> None:
    """Calls a function whose last argument is the error, which is added."""
    error = ffi.new("vram_error *")
    if function(*args, error):
        offset = None if error.offset == NO_OFFSET else int(error.offset)
        raise VramError(text_of(lib.vram_code_name(error.code)), text_of(error.where), text_of(error.text), offset)


def view(type_name: str, get: Any, *args: Any) -> Any:
    """A view's struct, filled in; what it points to lives as long as its handle."""
    struct = ffi.new(type_name + " *")
    struct.size = ffi.sizeof(type_name)
    get(*args, struct)
    return struct


def value_of(member: Any) -> Any:
    if isinstance(member, int):
        return int(member)
    if ffi.typeof(member) is ffi.typeof("vram_range"):
        return Range(int(member.low), int(member.expected), int(member.high))
    return text_of(member)


def rows(row: Type[T], type_name: str, count: Any, get: Any, handle: Any) -> Iterator[T]:
    """All views of a list as dataclasses whose fields are named as the view's members."""
    names = [f.name for f in dataclasses.fields(row)]  # type: ignore[arg-type]
    for i in range(count(handle)):
        struct = view(type_name, get, handle, i)
        yield row(**{name: value_of(getattr(struct, name)) for name in names})


@dataclasses.dataclass(frozen=True)
class Range:
    """Bytes between two bounds."""

    low: int
    expected: int
    high: int


SEVERITIES = ("note", "assume", "warn")


@dataclasses.dataclass(frozen=True)
class Finding:
    """What a careful reader would want to know.

    Attributes
    ----------
    id, name : str
        Stable: "V0207", "UNKNOWN_ARCHITECTURE".
    severity : int
        0 note, 1 assumption, 2 warning; `severity_name` in words.
    subject : str
        File, tensor, config key or setting; may be "".
    text : str
        One line.
    """

    id: str
    name: str
    severity: int
    subject: str
    text: str

    @property
    def severity_name(self) -> str:
        """ "note", "assume" or "warn", as in the JSON report."""
        return SEVERITIES[self.severity]


def findings(count: Any, get: Any, handle: Any) -> list[Finding]:
    return list(rows(Finding, "vram_finding_view", count, get, handle))


def table(name: str) -> list[dict[str, str]]:
    """A table of the library.

    Parameters
    ----------
    name : str
        "settings", "gpus", "families", "optimizers" …: what `vramcast list` shows.

    Returns
    -------
    list of dict
        A row each, all cells as text.
    """
    for i in range(lib.vram_table_count()):
        if text_of(lib.vram_table_name(i)) == name:
            return list(_table_rows(i))
    raise KeyError(name)


def _table_rows(number: int) -> Iterator[dict[str, str]]:
    columns: list[str] = []
    while lib.vram_table_column(number, len(columns)) != ffi.NULL:
        columns.append(text_of(lib.vram_table_column(number, len(columns))))
    row = 0
    while lib.vram_table_cell(number, row, 0) != ffi.NULL:
        yield {name: text_of(lib.vram_table_cell(number, row, i)) for i, name in enumerate(columns)}
        row += 1
