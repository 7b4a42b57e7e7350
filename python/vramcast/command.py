# SPDX-License-Identifier: Apache-2.0
"""What the command does better than a loop in Python: scanning on all cores, searching for limits."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
import tempfile
import threading
from typing import IO, Any, Iterable, Iterator, Optional, Sequence, Union

from ._library import VramError
from .plan import AnyPath, Plan, PlanLike

METERS = ("allocated", "reserved", "device")


def command() -> str:
    """The command vramcast: as VRAMCAST_COMMAND says, of this installation, or on the PATH."""
    told = os.environ.get("VRAMCAST_COMMAND")
    found = told or shutil.which("vramcast", path=sysconfig.get_path("scripts")) or shutil.which("vramcast")
    if not found:
        raise FileNotFoundError("the command vramcast is not installed (VRAMCAST_COMMAND names one)")
    return found


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return value if isinstance(value, str) else ",".join(map(str, value)) if isinstance(value, Iterable) else str(value)


def _words(plan: PlanLike, settings: Iterable[AnyPath]) -> list[str]:
    given: Any = plan.given() if isinstance(plan, Plan) else plan or {}
    words = ["%s=%s" % (key, _word(value)) for key, value in given.items()]
    for path in settings:
        words += ["--settings", os.fspath(path)]
    return words


def _path(path: AnyPath) -> str:
    """A path that is taken neither for an option nor for a setting."""
    text = os.fspath(path)
    return os.path.join(".", text) if text.startswith("-") or "=" in text.split("/")[0] else text


def _answer(words: Sequence[str], good: Sequence[int]) -> Any:
    done = subprocess.run([command(), *words], capture_output=True, text=True, check=False)
    if done.returncode not in good:
        raise VramError("command", "", done.stderr.strip().removeprefix("vramcast: "), None)
    return json.loads(done.stdout)


def fit(path: AnyPath, gpus: Union[str, Sequence[str]], plan: PlanLike = None, *, largest: Optional[str] = None,
        fewest_gpus: bool = False, global_batch: Optional[int] = None, settings: Iterable[AnyPath] = (),
        require: str = "likely") -> list[dict[str, Any]]:
    """The largest value of a setting that fits, or the fewest cards.

    Parameters
    ----------
    path : str or path
    gpus : str or sequence of str
    plan, settings
        See `Model.predict`.
    largest : str, optional
        "micro_batch" (the default), "seq", "images", "lora.rank" …
    fewest_gpus : bool
        Search for the number of cards instead.
    global_batch : int, optional
        micro_batch × accumulation × gpus stays this.
    require : {"likely", "certain"}

    Returns
    -------
    list of dict
        One for each card: `gpu`, `key`, `found`, `value`, `next`, and the runs at both (schema "vramcast.fit/1").
    """
    cards = gpus if isinstance(gpus, str) else ",".join(gpus)
    words = ["fit", _path(path), "gpu=" + cards, "--require", require, "--format", "json", *_words(plan, settings)]
    words += ["--min", "gpus"] if fewest_gpus else ["--max", largest or "micro_batch"]
    words += ["--global-batch", str(global_batch)] if global_batch else []
    return list(_answer(words, (0, 1))["limits"])


def advise(path: AnyPath, gpu: str, plan: PlanLike = None, *,
           settings: Iterable[AnyPath] = ()) -> list[dict[str, Any]]:
    """Changes that save memory, single and paired, each of them tried.

    Returns
    -------
    list of dict
        `changes`, `saves` and then `device` (bytes), `result`, `price` (in words); what saves most comes first.
    """
    words = ["fit", _path(path), "gpu=" + gpu, "--advice", "--format", "json", *_words(plan, settings)]
    return list(_answer(words, (0, 1))["advice"])


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    """A record as one row: nested names joined, findings as their ids."""
    model, peak, error = record["model"] or {}, record["peak"] or {}, record["error"] or {}
    row = {"path": record["path"], "outcome": record["outcome"], "verdict": record["verdict"]}
    row.update({key: model.get(key) for key in ("format", "family", "class", "parameters", "parameter_bytes")})
    for meter in METERS:
        for bound in ("low", "expected", "high"):
            row["%s_%s" % (meter, bound)] = (peak.get(meter) or {}).get(bound)
    row["findings"] = " ".join(f["id"] for f in record["findings"])
    row.update({"error_" + key: error.get(key) for key in ("code", "where", "text")})
    return row


def _feed(pipe: IO[str], paths: Iterable[AnyPath]) -> None:
    try:
        with pipe:
            for path in paths:
                pipe.write(os.fspath(path) + "\n")
    except BrokenPipeError:
        pass  # nobody reads records any more


def scan(paths: Union[AnyPath, Iterable[AnyPath]], plan: PlanLike = None, *, walk: bool = True,
         jobs: Optional[int] = None, settings: Iterable[AnyPath] = (), flat: bool = True) -> Iterator[dict[str, Any]]:
    """Makes a record of every model, on all cores.

    Parameters
    ----------
    paths : path or iterable of paths
        Trees to walk; with ``walk=False`` models, any number of them.
    plan, settings
        See `Model.predict`; the same for all.
    walk : bool
        Whether `paths` are trees to look for models in.
    jobs : int, optional
        Threads; default: one for each processor.
    flat : bool
        Rows for ``pandas.DataFrame(scan(...))``; else records of schema "vramcast.scan/1".

    Yields
    ------
    dict
        In the order of the paths. A model that cannot be read is a row, too: see `outcome`.
    """
    several = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    words = [command(), "scan", "--format", "jsonl", *(["--jobs", str(jobs)] if jobs else []),
             *_words(plan, settings), *([_path(p) for p in several] if walk else ["--stdin"])]
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(words, stdin=None if walk else subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=errors, text=True, encoding="utf-8")
        feeder = threading.Thread(target=_feed, args=(process.stdin, several), daemon=True) if process.stdin else None
        try:
            if feeder:
                feeder.start()
            assert process.stdout
            for line in process.stdout:
                record = json.loads(line)
                yield _flat(record) if flat else record
            if process.wait():
                errors.seek(0)
                raise VramError("command", "", errors.read().strip().removeprefix("vramcast: "), None)
        finally:  # also when the caller has seen enough
            process.kill()
            process.wait()
            if feeder:
                feeder.join()
            if process.stdout:
                process.stdout.close()
