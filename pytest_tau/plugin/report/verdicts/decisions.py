"""Decisions of a run's gates and baseline, for the pages of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest


def decisions(config: pytest.Config, *, details: bool = True) -> list[tuple[str, bool | None]]:
    """Return the lines of gates and baseline, and whether each is met; None for a line that decides nothing.

    Args:
        config: pytest's configuration.
        details: Whether the lines of the comparison that decide nothing are among them.
    """
    plugin = config.pluginmanager.get_plugin
    gates: Any = plugin("tau-gates")
    baseline: Any = plugin("tau-baseline")
    of_tests: Any = plugin("tau-test-gates")
    found: list[tuple[str, bool | None]] = [(str(each), each.met) for each in (gates.verdicts() if gates else ())]
    found += [(line, None) for line in (baseline.conclusions() if baseline else ())]
    found += of_tests.verdicts() if of_tests else []
    for line, colours in baseline.lines() if baseline else ():
        if details or "green" in colours:
            found.append((line, colours.get("green")))
    return found
