"""The lines of the summary about an edition: its values, and the tasks that do not carry over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ...plugin.items import spec_of
from ...plugin.seams import SummaryLine
from ...plugin.wire import give_output, output_of
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
        _config: pytest's configuration.
        settings: The settings.
    """

    def __init__(self, _config: pytest.Config, settings: EditionSettings) -> None:
        self._edition = settings.edition
        #: The lines by domain.
        self._lines: dict[str, list[str]] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Note the values of each domain, and the tasks that do not carry over."""
        domains = {spec.domain.name: spec.domain for item in items if (spec := spec_of(item)) is not None}
        self._lines = {name: list(_lines(domain)) for name, domain in domains.items()}
        if domains:
            give_output(config, capabilities={_NAME: self._lines})

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the lines from a worker; every worker finds the same ones."""
        self._lines = output_of(node).get("capabilities", {}).get(_NAME) or self._lines

    def pytest_tau_summary_lines(self) -> Iterator[SummaryLine]:
        """Return the lines about each domain."""
        for name, lines in self._lines.items():
            yield from (SummaryLine(f"tau: edition {self._edition} of {name}: {line}") for line in lines)


def _lines(domain: Domain) -> Iterator[str]:
    values = domain.spec.values
    changed = [f"{name} {values.of(name)} ({values.declared[name].value})" for name in values.changed]
    yield listed(changed, _MOST) or "the values are those of the domain"
    for task, why in domain.not_carried_over.items():
        yield f"task {task} does not carry over: {one_line(why, _LONGEST)}"
