"""The text about an agent or a user that is one object for several trials, and that trials change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..text import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Attributes that are named.
_MOST = 3


def shared_object_text(side: str, name: str, attributes: Sequence[str]) -> str:
    """Return what is shared, what that means, and the cure.

    Args:
        side: ``agent`` or ``user``.
        name: Its name; that of its class if a fixture or a hook has made it.
        attributes: The attributes that trials change.
    """
    changed = listed([f"self.{attribute}" for attribute in attributes], _MOST)
    cure = "name its class to build it anew for each trial" if ":" in name else "make a new one for each trial"
    return (
        f"{side} {name} is one object for all trials, and trials change it ({changed}): what it remembers of one trial "
        f"is there in the next; {cure}"
    )
