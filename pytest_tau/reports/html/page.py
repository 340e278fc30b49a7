"""The page: one HTML file that contains everything and needs no network."""

from __future__ import annotations

import re
import tempfile
from importlib.resources import files
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from ...capability import installed
from ...files import atomic_open
from ...masking import mask_secrets
from ..page import content_policy
from .data import gather
from .json_text import document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ...capability import Capability
    from ...regrade.recognition import DomainSource
    from ...runs.reader import Run

_SCRIPTS = ("dom", "model", "charts", "overview", "table", "conversation", "blocks", "detail")
_COPY = 1 << 20


class Written(NamedTuple):
    """A report that was written: the number of simulations, and what could not be read of the runs."""

    simulations: int
    problems: list[str]


def write_report(
    file: Path,
    runs: Sequence[Run],
    domains: DomainSource,
    capabilities: Sequence[Capability] | None = None,
    decisions: Sequence[tuple[str, bool | None]] = (),
) -> Written:
    """Write the report of a run, or of two side by side.

    Args:
        file: The file; its folders are made, and it appears once it is complete.
        runs: One run, or two.
        domains: The source of domains.
        capabilities: The capabilities of the runs; None for those that are installed.
        decisions: What gates and baseline say, each with whether it is met; None for a line that nothing depends on.

    Raises:
        ConfigurationError: A run cannot be read.
        OSError: A file cannot be opened or written.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    known = installed() if capabilities is None else capabilities
    with tempfile.TemporaryFile() as spool:
        content, scripts = gather(runs, domains, spool, known, file.parent)
        content["decisions"] = [(mask_secrets(line), met) for line, met in decisions]
        spool.seek(0)
        with atomic_open(file) as page:
            _write(page, content, spool, scripts)
    problems = [problem for run in content["runs"] for problem in run["problems"]]
    return Written(sum(len(run["rows"]) for run in content["runs"]), problems)


def _write(page: IO[bytes], content: Mapping[str, Any], conversations: IO[bytes], scripts: Sequence[Path]) -> None:
    folder = files(__package__) / "page"

    def read(name: str) -> str:
        return (folder / name).read_text(encoding="utf-8")

    style = read("page.css")
    block_scripts = [script.read_text(encoding="utf-8") for script in scripts]
    # The last one draws the page.
    parts_of_script = [*(read(f"{name}.js") for name in _SCRIPTS), *block_scripts, read("main.js")]
    script = '"use strict";\n(() => {\n' + "\n".join(parts_of_script) + "\n})();\n"
    parts = {
        "policy": content_policy(style, script),
        "title": _escaped(" and ".join(run["name"] for run in content["runs"])),
        "style": style,
        "data": document(content),
        "script": script,
    }
    before, _, after = read("page.html").partition("{{conversations}}")
    page.write(_filled(before, parts))
    while piece := conversations.read(_COPY):
        page.write(piece)
    page.write(_filled(after, parts))


def _filled(template: str, parts: Mapping[str, str]) -> bytes:
    # In one go: what is put in may look like a place to be filled.
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], template).encode("utf-8", "backslashreplace")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
