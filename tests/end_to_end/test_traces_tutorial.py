"""The tutorial from a conversation in production to a test is what happens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .test_tutorial import ROOT, Step, departures, page, steps

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.exhaustive, pytest.mark.usefixtures("warm_processes")]


def test_its_commands_say_what_it_shows(tmp_path: Path) -> None:
    copied = [
        Step(file=file.name, text=file.read_text(encoding="utf-8"))
        for folder in ("existing_tools", "production")
        for file in sorted((ROOT / "examples" / folder).iterdir())
        if file.is_file()
    ]
    followed = [*steps(page("traces_to_tasks.md"))]
    assert sum(bool(step.command) for step in followed) >= 8
    found = departures(tmp_path / "desk", [*copied, *followed])
    assert not found, "\n\n".join(found)
