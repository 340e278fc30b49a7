"""Regraded result files: the file as it was, with fresh rewards in the place of the stored ones.

Everything but the simulations that were graded is copied as it is, also what cannot be read.
"""

from __future__ import annotations

import gzip
import io
import shutil
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from ..documents import is_gzipped
from ..errors import ConfigurationError
from ..files import atomic_open
from ..models import Notes
from ..plain import json
from ..runs.layout import RESULTS_FOLDER, RESULTS_INDEX
from ..runs.results.entries import entry_name
from ..runs.results.files import ResultFile
from ..runs.results.streaming_json import JsonText, pieces
from ..runs.results.tau1 import is_tau1
from .export import as_json
from .export_tau2 import tau2_reward

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ..models import Attribution, RewardInfo
    from ..regrade.result import FileReport, Regraded

_NL = "NL_ASSERTION"


class Rewritten(NamedTuple):
    """The outcome of writing a file again.

    Attributes:
        path: The written file, or folder.
        fresh: The number of simulations with fresh rewards.
        unjudged: Entries that keep their stored reward because NL assertions were not judged.
    """

    path: Path
    fresh: int
    unjudged: list[str]


class Fresh(NamedTuple):
    """A fresh verdict, and the party at fault by it."""

    verdict: RewardInfo
    blame: Attribution | None


def rewrite(report: FileReport, target: Path) -> Rewritten:
    """Write a file, or the folder of a τ²-bench run, with fresh rewards.

    Args:
        report: The results of regrading it.
        target: The file or folder to write; its folders are made.

    Raises:
        ConfigurationError: A reward has a component that the format cannot store.
        OSError: A file cannot be read or written.
    """
    verdicts = {result.entry: _verdict(result) for result in report.results}
    blames = {result.entry: result.blame for result in report.results}
    fresh = {entry: Fresh(verdict, blames[entry]) for entry, verdict in verdicts.items() if verdict is not None}
    if report.path.is_dir():
        _rewrite_folder(report.path, target, fresh)
    else:
        _rewrite_file(report.path, target, fresh, None)
    return Rewritten(target, len(fresh), [entry for entry, verdict in verdicts.items() if verdict is None])


def _verdict(result: Regraded) -> RewardInfo | None:
    """Return the fresh verdict, with the stored one's NL assertions if there was no judge; None if it has none."""
    fresh, stored = result.fresh, result.stored
    if not result.without_judge or "ended_early" in (fresh.info or {}):
        return fresh
    share = (stored.reward_breakdown or {}).get(_NL) if stored else None
    if stored is None or share is None:
        return None
    return fresh.model_copy(
        update={
            "reward": fresh.reward * share,
            "reward_breakdown": {**(fresh.reward_breakdown or {}), _NL: share},
            "reward_basis": [*(fresh.reward_basis or ()), _NL],
            "nl_assertions": stored.nl_assertions,
        }
    )


def _rewrite_folder(source: Path, target: Path, fresh: Mapping[str, Fresh]) -> None:
    _rewrite_file(source / RESULTS_INDEX, target / RESULTS_INDEX, {}, None)
    for file in ResultFile.scan(source).files:
        if file.is_file():
            name = f"{RESULTS_FOLDER}/{file.name}"
            _rewrite_file(file, target / RESULTS_FOLDER / file.name, fresh, name)


def _rewrite_file(source: Path, target: Path, fresh: Mapping[str, Fresh], name: str | None) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if not fresh:
        with source.open("rb") as file, atomic_open(target) as copied:
            shutil.copyfileobj(file, copied)
        return
    with atomic_open(target) as raw, ExitStack() as files:
        packed: Any = raw
        if is_gzipped(source):
            packed = files.enter_context(gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0))
        text: IO[str] = files.enter_context(io.TextIOWrapper(packed, encoding="utf-8", newline=""))
        document = {piece.key: piece.value for piece in pieces(source) if piece.position is None and not piece.problem}
        single_entry = entry_name(name, document)
        if (
            "messages" in document or "traj" in document
        ) and single_entry in fresh:  # one simulation over several lines
            text.write(json.dumps(_updated(document, fresh[single_entry]), indent=2) + "\n")
        else:
            text.writelines(_spliced(source, fresh, name))


def _spliced(source: Path, fresh: Mapping[str, Fresh], name: str | None) -> Iterator[str]:
    """Yield the text of a file with the entries replaced that have fresh rewards."""
    text, copied = JsonText(source).content, 0
    for piece in pieces(source):
        verdict = None
        if piece.position is not None and piece.key in ("", "simulations") and isinstance(piece.value, dict):
            verdict = fresh.get(entry_name(piece.position if name is None else name, piece.value))
        if verdict is not None:
            yield text[copied : piece.start]
            yield as_json(_updated(piece.value, verdict))
            copied = piece.end
    yield text[copied:]


def _updated(entry: dict[str, Any], fresh: Fresh) -> dict[str, Any]:
    """Return an entry with a fresh verdict in the form that its format has, and the party at fault in its ``info``."""
    updated = _with_verdict(entry, fresh.verdict)
    info = updated.get("info")
    if info is not None and not isinstance(info, dict):
        return updated
    other_notes = {key: value for key, value in (info or {}).items() if key != "blame"}
    notes = other_notes | (Notes(blame=fresh.blame).as_info() or {})
    return {**updated, "info": notes} if notes or "info" in updated else updated


def _with_verdict(entry: dict[str, Any], verdict: RewardInfo) -> dict[str, Any]:
    if is_tau1(entry):
        return _updated_tau1(entry, verdict)
    if "test" in entry:
        return {**entry, "reward_info": verdict.model_dump(mode="json")}
    return {**entry, "reward_info": tau2_reward(verdict, str(entry["task_id"]))}


def _updated_tau1(entry: dict[str, Any], verdict: RewardInfo) -> dict[str, Any]:
    updated = {**entry, "reward": verdict.reward}
    info = entry.get("info")
    stored = info.get("reward_info") if isinstance(info, dict) else None
    if not isinstance(info, dict) or not isinstance(stored, dict):
        return updated  # it was cut off, which nothing else in the file says
    stored_info: Any = stored.get("info")
    checks = {
        name: stored_info[name]
        for name in (stored_info if isinstance(stored_info, dict) else ())
        if name not in ("r_actions", "r_outputs", "outputs")
    }
    match, communicated = verdict.db_check is None or verdict.db_check.db_match, verdict.communicate_checks or []
    if match and communicated:
        outputs = {check.info: check.met for check in communicated}
        checks |= {"r_outputs": float(all(outputs.values())), "outputs": outputs}
    else:
        checks["r_actions"] = float(match)
    return {**updated, "info": {**info, "reward_info": {**stored, "reward": verdict.reward, "info": checks}}}


def targets(paths: list[tuple[Path, Path]]) -> dict[Path, Path]:
    """Return the files to write by the files that were read.

    Args:
        paths: The input files or folders, each with the path to write.

    Raises:
        ConfigurationError: Two inputs would be written to the same path, or one over an input.
    """
    target_of: dict[Path, Path] = {}
    inputs = {source.resolve(): source for source, _ in paths}
    for source, target in paths:
        if target.resolve() in inputs:
            raise ConfigurationError(f"{target} is an input; give another folder for the output")
        twin = next((other for other, path in target_of.items() if path == target and other != source), None)
        if twin is not None:
            raise ConfigurationError(f"{twin} and {source} would both be written to {target}; regrade them one by one")
        target_of[source] = target
    return target_of
