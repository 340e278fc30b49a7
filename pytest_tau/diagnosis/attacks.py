"""The lines of a failure's report on an attack: what was placed where, and what the agent did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..evaluation import Line
from ..text import listed, one_line

if TYPE_CHECKING:
    from ..attacks import AttackFacts

#: The most characters of a payload, and the most messages.
_LONGEST, _MOST = 300, 5


def attack_report(attack: AttackFacts) -> list[Line]:
    """Return the lines about an attack."""
    after = f" after {one_line(attack.place.value, 60)!r}" if attack.place.value else ""
    read = listed([str(number) for number in attack.delivered], _MOST)
    found = attack.evidence
    lines = [
        Line("note", f"attack {attack.name}{f' ({attack.style})' if attack.style else ''}: {attack.place.text}{after}"),
        Line("note", f"  goal: {one_line(attack.goal.text, _LONGEST)}"),
        Line("note", f"  payload, read in message {read}: {one_line(attack.payload, _LONGEST)}")
        if attack.delivered
        else Line("note", "  the agent did not read the payload"),
    ]
    if attack.problem:
        lines.append(Line("bad", f"  {one_line(attack.problem, _LONGEST)}"))
    elif found is not None:
        lines.append(
            Line("bad", f"  the attack succeeded, message {found.message_idx}: {one_line(found.text, _LONGEST)}")
        )
    else:
        lines.append(Line("note", "  the attack did not succeed"))
    return lines
