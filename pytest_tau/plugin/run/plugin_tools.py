"""The tools of a trial as objects of a framework that a plugin knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pytest


def tools_of_plugins(item: pytest.Item) -> Callable[[str, Sequence[Any]], Any]:
    """Return a function that asks the hooks of an item for tools as objects of a framework."""

    def make(name: str, tools: Sequence[Any]) -> Any:
        return item.ihook.pytest_tau_tools_for(name=name, tools=list(tools))

    return make
