"""Where the writes of a conversation differ from those of the reference: other arguments, too many, or too few."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from ..models import Action, call_as_text
from ..plain import json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..environment import Domain
    from ..models import Call, Divergence, Task


class Slot(NamedTuple):
    """An argument that differs.

    Attributes:
        name: The argument.
        got: The single values that the call has and the reference does not have.
        wanted: Those that the reference has and the call does not have.
    """

    name: str
    got: tuple[Any, ...]
    wanted: tuple[Any, ...]


class Deviation(NamedTuple):
    """A write that is not as in the reference.

    Attributes:
        made: The call; None if it is missing.
        wanted: The write of the reference; None if the call is not part of it.
        slots: The arguments that differ; of a call that is missing or too much, all.
    """

    made: Call | None
    wanted: Action | None
    slots: tuple[Slot, ...]

    @property
    def by_user(self) -> bool:
        """Whether the call is one of the user's."""
        call = self.made.call if self.made else self.wanted
        return call is not None and call.requestor == "user"

    @property
    def tool(self) -> str:
        """The name of the tool."""
        call = self.made.call if self.made else self.wanted
        return call.name if call is not None else ""

    @property
    def record(self) -> str | None:
        """The first argument of the reference's write, which says what it is done to; None if there is none."""
        return next(iter(self.wanted.arguments), None) if self.wanted is not None else None

    @property
    def text(self) -> str:
        """The deviation in words."""
        if self.made is None or self.wanted is None:
            call = self.made.call if self.made else self.wanted
            return call_as_text(call.name, call.arguments) if call else ""
        parts = [f"{slot.name}: {_listed(slot.got)} instead of {_listed(slot.wanted)}" for slot in self.slots]
        return f"{self.tool}: {'; '.join(parts)}"


def deviations(task: Task, calls: Sequence[Call], divergence: Divergence | None, domain: Domain) -> list[Deviation]:
    """Return the writes that differ from the reference's and that the failed check of the state depends on.

    Args:
        task: The task.
        calls: The calls of the conversation.
        divergence: Where the state went wrong; the deviation there comes first.
        domain: The domain.
    """
    if divergence is None:
        return []
    mutating = mutating_tools(domain)
    made = [call for call in calls if call.call.name in mutating and call.result and not call.result.error]
    wanted = [action for action in task.criteria.actions or () if action.name in mutating]
    return _relevant([*_pairs(made, wanted)], divergence)


def mutating_tools(domain: Domain) -> frozenset[str]:
    """Return the names of the tools of both sides that change something."""
    sides = (domain.spec.agent_tools, domain.spec.user_tools)
    return frozenset(name for side in sides if side for name, info in side.tool_infos.items() if info.mutates)


def _pairs(made: list[Call], wanted: list[Action]) -> Iterator[Deviation]:
    """Yield each call that is not as in the reference with the write of the reference that it is nearest to."""
    for action in list(wanted):
        same = next((call for call in made if _is_same(call, action)), None)
        if same is not None:
            made = [call for call in made if call is not same]
            wanted = [other for other in wanted if other is not action]
    scored = [(_likeness(call, action), call, action) for call in made for action in wanted]
    for score, call, action in sorted(scored, key=lambda pair: -pair[0]):
        if score and any(call is left for left in made) and any(action is left for left in wanted):
            made = [left for left in made if left is not call]
            wanted = [left for left in wanted if left is not action]
            yield Deviation(call, action, tuple(_slots(call.call.arguments, action.arguments)))
    for call in made:
        yield Deviation(call, None, tuple(_slots(call.call.arguments, {})))
    for action in wanted:
        yield Deviation(None, action, tuple(_slots({}, action.arguments)))


def _is_same(call: Call, action: Action) -> bool:
    return call.call.name == action.name and not [*_slots(call.call.arguments, action.arguments)]


def _likeness(call: Call, action: Action) -> int:
    """Return how many values two calls of the same tool share; at least one, so that the only two are a pair."""
    if call.call.name != action.name or call.call.requestor != action.requestor:
        return 0
    return 1 + sum((Counter(_keys(call.call.arguments)) & Counter(_keys(action.arguments))).values())


def _slots(got: dict[str, Any], wanted: dict[str, Any]) -> Iterator[Slot]:
    for name in dict.fromkeys([*got, *wanted]):
        left, right = list(leaves(got.get(name))), list(leaves(wanted.get(name)))
        only_left, only_right = _without(left, right), _without(right, left)
        if only_left or only_right:
            yield Slot(name, only_left, only_right)


def _without(values: list[Any], others: list[Any]) -> tuple[Any, ...]:
    left = Counter(map(_key, others))
    found = []
    for value in values:
        if left[_key(value)]:
            left[_key(value)] -= 1
        else:
            found.append(value)
    return tuple(found)


def _keys(value: Any) -> Iterator[str]:
    return map(_key, leaves(value))


def _key(value: Any) -> str:
    return json.dumps(float(value) if type(value) is int else value, default=str)


def leaves(value: Any) -> Iterator[Any]:
    """Yield the single values of an argument, at any depth, that say something."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from leaves(inner)
    elif value is not None and value != "":
        yield value


def _relevant(found: list[Deviation], divergence: Divergence) -> list[Deviation]:
    """Return the deviations that matter, the one at the divergence first, then by their place, missing writes last."""
    if divergence.missing:
        return [each for each in found if each.wanted is not None and _is_listed(each.wanted, divergence.missing)]
    at = divergence.message_idx

    def place(each: Deviation) -> tuple[bool, int]:
        made = each.made
        here = made is not None and made.message_idx == at and made.call.arguments == divergence.call["arguments"]
        return not here, made.message_idx if made is not None else len(found) + 10**6

    return sorted(found, key=place)


def _is_listed(action: Action, calls: Sequence[dict[str, Any]]) -> bool:
    return any(call["name"] == action.name and call["arguments"] == action.arguments for call in calls)


def _listed(values: tuple[Any, ...]) -> str:
    return ", ".join(map(str, values)) or "nothing"
