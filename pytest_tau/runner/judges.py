"""Loading of the judge that ``--tau-judge`` names."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ..errors import ConfigurationError, unknown_name
from ..evaluation import BUILT_IN_JUDGES, LazyJudge
from ..participants import load_object
from ..protocol import TAU, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from ..evaluation import Judge
    from .config import ModelChoice


def load_judge(
    spec: str | None, folder: Path, model: ModelChoice | None = None, protocol: Protocol = TAU
) -> Judge | None:
    """Return the judge of NL assertions that is named; None if none is.

    Args:
        spec: ``llm``, ``accept``, ``reject``, ``module:attribute`` or ``path/to/file.py:attribute``; a class is built.
        folder: What relative paths and modules are looked up in.
        model: The judge's model; with one, ``llm`` is the default.
        protocol: The protocol, which may have the judge's prompt.

    Raises:
        ConfigurationError: There is no judge of this name, it cannot be created, or it is not a judge.
    """
    spec = "llm" if spec is None and model is not None else spec
    if spec is None or spec in BUILT_IN_JUDGES:
        return BUILT_IN_JUDGES[spec] if spec else None
    if spec == "llm":
        if model is None:
            raise ConfigurationError("judge 'llm' needs a model: add --tau-judge-llm MODEL")
        if protocol.texts is None:
            return LazyJudge(model.name)
        if protocol.texts.judge is None:
            raise protocol.texts.missing("judge's prompt", "judge")
        return LazyJudge(model.name, protocol.texts.judge)
    if ":" not in spec:
        raise ConfigurationError(unknown_name("judge", spec, ["llm", *BUILT_IN_JUDGES, "module:attribute"]))
    add_to_sys_path(folder)
    found = load_object(spec, "judge", folder)
    try:
        judge: Judge = found() if isinstance(found, type) else found
    except Exception as error:
        # A foreign judge's constructor may raise anything.
        raise ConfigurationError(f"judge {spec!r} cannot be created: {type(error).__name__}: {error}") from error
    if not callable(getattr(judge, "judge", None)):
        raise ConfigurationError(f"judge {spec!r} has no method judge(statements, messages)")
    if not hasattr(judge, "name"):
        judge.name = spec
    return judge


def add_to_sys_path(folder: Path) -> None:
    """Let modules of the user's project be imported: those that options name lie in this folder."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
