"""Effects of tools that only read on later writes: grading replays the writes alone, and does not find them.

Such a tool keeps something outside of the database, such as the results of a search in an attribute of the toolkit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..environment.functions.sessions import SessionState
from ..text import listed
from .components.db import same_state

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..environment import Environment
    from ..models import ToolCall
    from .component import GradingInput

#: So often all calls, and the writes alone, must lead to the same: not so with a clock or random numbers.
_REPLAYS = 3
#: The most reading tools that are named.
_NAMED = 3


class HiddenEffect(NamedTuple):
    """A write that depends on calls of tools that only read.

    Attributes:
        tool: The name of the write.
        reads: The names of the reading tools that were called before it.
        cure: How to correct the declaration of one of them.
    """

    tool: str
    reads: tuple[str, ...]
    cure: str

    def __str__(self) -> str:
        return (
            f"tool {self.tool!r} has another result or effect without the calls before it of tools that only read "
            f"({listed(self.reads, _NAMED)}), which grading does not make: keep what it needs in the database; or, for "
            f"the tool that keeps it elsewhere, {self.cure}"
        )


class _Replay(NamedTuple):
    """Two environments, after all calls and after the writes alone.

    Attributes:
        whole: The environment after all calls.
        writes: The one after the writes alone.
        results: For each call, the results in both, and whether both states were equal then; None for one that reads.
    """

    whole: Environment
    writes: Environment
    results: list[tuple[str | None, str | None, bool] | None]


def hidden_effect(given: GradingInput, calls: Sequence[ToolCall], live: Environment | None) -> HiddenEffect | None:
    """Return the first write of a conversation that a call of a reading tool before it has affected.

    Args:
        given: The conversation as it is graded. None of its tools has changed the state without being declared.
        calls: The calls that were executed, in order.
        live: The environment of the conversation, whose state all calls must explain; None if it is not known.
    """
    first = _replayed(given, calls)
    if first is None or same_state(first.whole, first.writes):
        return None
    if live is not None and not same_state(first.whole, live):
        return None
    differing = [at for at, results in enumerate(first.results) if results and _differs(results)]
    for _ in range(_REPLAYS - 1):
        again = _replayed(given, calls)
        if again is None or not (same_state(again.whole, first.whole) and same_state(again.writes, first.writes)):
            return None
        differing = [at for at in differing if again.results[at] == first.results[at]]
    if not differing:
        return None
    reads = tuple(dict.fromkeys(each.name for at, each in enumerate(calls[: differing[0]]) if not first.results[at]))
    return HiddenEffect(calls[differing[0]].name, reads, declaration(first.whole, "read")) if reads else None


def _differs(results: tuple[str | None, str | None, bool]) -> bool:
    of_all, of_writes, same = results
    return of_all != of_writes or not same


def _replayed(given: GradingInput, calls: Sequence[ToolCall]) -> _Replay | None:
    """Make all calls in one new environment, and the writes alone in another; None if one is not to be made again."""
    whole, writes = (given.domain.environment(given.task, solo=given.solo) for _ in range(2))
    replay = _Replay(whole, writes, [])
    for call in calls:
        info = whole.info_of(call.name, call.requestor)
        if info is None or whole.waits_for(call.name):
            replay.results.append(None)  # it calls a model or runs a program
        elif info.mutates:
            results = (whole.answer(call).content, writes.answer(call).content)
            replay.results.append((*results, same_state(whole, writes)))
        elif info.uncounted:
            return None  # its changes are not to count, and may explain a difference
        else:
            whole.answer(call)
            replay.results.append(None)
    whole.sync()
    writes.sync()
    return replay


def declaration(environment: Environment, kind: str) -> str:
    """Return what to do with the declaration of a tool that is declared as another kind than a write."""
    if isinstance(environment.agent_db, SessionState):
        return f"do not name it in {'reads' if kind == 'read' else kind}= of the domain"
    return 'declare it @tool("write")'
