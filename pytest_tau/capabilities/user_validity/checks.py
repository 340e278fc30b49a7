"""The checks of the simulated user: each a name, what it finds, and a function over a finished conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...language import follows, plain_words, words
from ...models import AssistantMessage, UserMessage
from .conversation import Conversation
from .facts import GAVE_UP, NOT_UNDERSTOOD, Finding, UserFacts
from .statements import made_up, secrets
from .stops import stopped_before_request, stopped_while_asked

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from ...environment import Domain
    from ...models import Message, Task


def not_understood(conversation: Conversation) -> Iterator[Finding]:
    """Find messages that the scripted user did not understand, and which-questions that it answered by yes or no."""
    yield from _recorded(conversation, NOT_UNDERSTOOD)


def gave_up(conversation: Conversation) -> Iterator[Finding]:
    """Find that the scripted user ran out of patience with an agent that it had not understood."""
    yield from _recorded(conversation, GAVE_UP)


def _recorded(conversation: Conversation, check: str) -> Iterator[Finding]:
    for misunderstanding in conversation.misunderstood:
        if misunderstanding.message_idx >= conversation.start and (misunderstanding.kind == "gave up") == (
            check == GAVE_UP
        ):
            yield Finding(check, misunderstanding.message_idx, misunderstanding.text)


#: Words of the names of tools that say little about what they do.
_LITTLE = frozenset(("toggle", "set", "reset", "turn", "make", "do", "my", "the", "to", "of", "mode", "device", "user"))


def unasked_action(conversation: Conversation) -> Iterator[Finding]:
    """Find calls of the user's own tools that change something and that were not asked for, at any time before.

    The agent or the scenario asks for a tool by its name, by words of its name, or by a phrase of the domain.
    """
    requests = conversation.scenario
    for number, message in enumerate(conversation.messages):
        if isinstance(message, AssistantMessage):
            requests += "\n" + message.text
        elif isinstance(message, UserMessage) and number >= conversation.start:
            for call in message.tool_calls or ():
                if conversation.mutates(call.name) and not _is_named(call.name, requests, conversation):
                    yield Finding(
                        "unasked-action",
                        number,
                        f"neither the agent nor the scenario has asked for {call.name}({_shown(call.arguments)})",
                    )


def _is_named(tool: str, requests: str, conversation: Conversation) -> bool:
    lower = requests.lower()
    if tool.lower() in lower:
        return True
    spoken_words = set(plain_words(lower))
    tool_words = [word for word in plain_words(tool) if word not in _LITTLE]
    if tool_words and any(_spoken(word, spoken_words) for word in tool_words):
        return True
    return any(follows(phrase, words(line)) for phrase in conversation.phrases(tool) for line in requests.splitlines())


def _spoken(word: str, spoken_words: set[str]) -> bool:
    return word in spoken_words or word + "s" in spoken_words or word.removesuffix("s") in spoken_words


def _shown(arguments: dict[str, object]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())


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
        "a message that the scripted user did not understand, or a which-question that it answered by yes or no; "
        "unless the agent then only repeated itself, or made calls that failed",
        not_understood,
    ),
    Check(GAVE_UP, "a scripted user that ran out of patience with an agent that it had not understood", gave_up),
)
CHECK_NAMES = tuple(check.name for check in CHECKS)


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
    conversation = Conversation(task, messages, domain)
    findings: list[Finding] = []
    problems = []
    for check in CHECKS:
        if check.name in excused:
            continue
        try:
            findings += check.find(conversation)
        except Exception as error:  # noqa: BLE001 - what the other checks find must not be lost
            problems.append(f"{check.name}: {type(error).__name__}: {error}")
    excused_names = tuple(name for name in CHECK_NAMES if name in excused) if excused else ()
    if not findings and not problems and not conversation.not_understood:
        return UserFacts(excused=excused_names)
    findings.sort(key=lambda finding: finding.message_idx)
    misunderstandings = [
        misunderstanding
        for misunderstanding in conversation.not_understood
        if misunderstanding.message_idx >= conversation.start
    ]
    kinds = [] if GAVE_UP in excused else [misunderstanding.kind for misunderstanding in misunderstandings]
    return UserFacts(
        findings=tuple(findings),
        excused=excused_names,
        unchecked="; ".join(problems),
        lost=len(kinds) - kinds.count("gave up"),
        gave_up="gave up" in kinds,
    )
