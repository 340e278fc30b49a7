"""Tests that look at each of many things: an item for each would take longer than most of the checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def for_each(things: Mapping[str, Any] | Iterable[Any]) -> Callable[[Callable[[Any], None]], Callable[[], None]]:
    """Make one test of a check of each thing; if it fails, it names all that are wrong.

    Args:
        things: The things by their names, or things that are their own names.
    """
    named = things if isinstance(things, Mapping) else {str(thing): thing for thing in things}

    def make(check: Callable[[Any], None]) -> Callable[[], None]:
        def test() -> None:
            wrong: dict[str, str] = {}
            for name, thing in named.items():
                try:
                    check(thing)
                except Exception as error:
                    wrong[name] = f"{type(error).__name__}: {error}"
            assert named
            assert not wrong, "\n".join(f"{name}: {problem}" for name, problem in wrong.items())

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return make
