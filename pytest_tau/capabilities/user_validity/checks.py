"""The checks of the simulated user: each a name, what it finds, and a function over a finished conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...errors import is_interrupt
from .conversation import Conversation
from .device import unasked_action
from .facts import GAVE_UP, NOT_UNDERSTOOD, UserFacts
from .misunderstandings import gave_up, not_understood
from .statements import made_up, secrets
from .stops import stopped_before_request, stopped_while_asked

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from ...environment import Domain
    from ...models import Message, Task
    from .facts import Finding


class Check(NamedTuple):
    """A check of the user.

    Attributes:
        name: Its name.
        finds: What it finds.
        find: Yields the faults of a conversation.
    """

    name: str
    finds: str
    find: Callable[[Conversation], Iterable[Finding]]


CHECKS: tuple[Check, ...] = (
    Check(
        "made-up-detail",
        "an e-mail address, id, date or number that neither the scenario nor the conversation gave before",
        made_up,
    ),
    Check("unasked-secret", "a detail given away that the scenario wants to be kept, or to be asked for", secrets),
    Check(
        "unasked-action",
        "a call of a tool of its own that changes something and that was not asked for",
        unasked_action,
    ),
    Check(
        "stop-while-asked", "a stop in the message that agrees to what the agent wants to do then", stopped_while_asked
    ),
    Check("stop-before-request", "a stop before the last request was made", stopped_before_request),
    Check(
        NOT_UNDERSTOOD,
        "a message that the scripted user did not understand, or a which-question that it answered by yes or no",
        not_understood,
    ),
    Check(GAVE_UP, "a scripted user whose patience was exhausted, so that it ended the conversation", gave_up),
)
CHECK_NAMES = tuple(each.name for each in CHECKS)


def check_user(
    task: Task, messages: Sequence[Message], domain: Domain | None = None, excused: Collection[str] = ()
) -> UserFacts:
    """Check what the simulated user has done in a finished conversation.

    Args:
        task: The task.
        messages: The trajectory, oldest first.
        domain: The domain; without it, calls of the user's tools are not checked.
        excused: Names of checks that are not made, as the user makes such faults on purpose.

    Returns:
        The faults. A check that raises an exception is named in ``unchecked``.
    """
    conversation = Conversation(task, messages, *_tools_of(domain))
    findings: list[Finding] = []
    problems = []
    for check in CHECKS:
        if check.name in excused:
            continue
        try:
            findings += check.find(conversation)
        except BaseException as error:
            if is_interrupt(error):
                raise
            # A conversation that was paid for must not be lost.
            problems.append(f"{check.name}: {type(error).__name__}: {error}")
    findings.sort(key=lambda each: each.message_idx)
    kept = tuple(name for name in CHECK_NAMES if name in excused)
    return UserFacts(findings=tuple(findings), excused=kept, unchecked="; ".join(problems))


def _tools_of(
    domain: Domain | None,
) -> tuple[Callable[[str], bool | None], Callable[[str], Sequence[str]]]:
    """Return whether a tool of the user changes something, and the phrases that ask for it."""
    spoken = domain.spec.spoken if domain else {}
    toolkit = domain.spec.user_tools if domain else None
    tools = toolkit.tools() if toolkit else {}

    def mutates(name: str) -> bool | None:
        return tools[name].mutates if name in tools else None

    def phrases(name: str) -> Sequence[str]:
        return spoken[name].phrases if name in spoken else ()

    return mutates, phrases
