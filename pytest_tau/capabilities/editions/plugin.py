"""The lines of the summary about an edition: its values, and the tasks that do not carry over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ...capability import run_of
from ...text import listed, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...environment import Domain
    from . import EditionSettings

_NAME = "editions"
#: Values that are named, and the characters of a reason.
_MOST, _LONGEST = 6, 160


class EditionReport:
    """Reports the editions of the domains of a run.

    Args:
        config: pytest's configuration.
        settings: The settings.
    """

    def __init__(self, config: pytest.Config, settings: EditionSettings) -> None:
        assert settings.edition is not None, "the capability is on"
        self._run, self._edition = run_of(config), settings.edition

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Note the values of each domain, and the tasks that do not carry over."""
        domains = {found.domain.name: found.domain for item in items if (found := self._run.task_of(item)) is not None}
        if domains:
            self._run.give(_NAME, {name: list(_lines(domain)) for name, domain in domains.items()})

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Add the lines about each domain to the summary."""
        for lines_by_domain in self._run.given(_NAME)[-1:]:  # every worker finds the same ones
            for name, lines in lines_by_domain.items():
                for line in lines:
                    self._run.line(f"edition {self._edition} of {name}: {line}")


def _lines(domain: Domain) -> Iterator[str]:
    values = domain.spec.values
    changed = [f"{name} {values.of(name)} ({values.declared[name].value})" for name in values.changed]
    yield listed(changed, _MOST) or "the values are those of the domain"
    for task, why in domain.not_carried_over.items():
        yield f"task {task} does not carry over: {one_line(why, _LONGEST)}"
