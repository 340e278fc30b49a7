"""What one message says, in English: the one place that has patterns of wording.

Readers of messages are above: the scripted user, rules of policies, blame, checks of the user, tasks from traces. Each
subject has one module:

- ``message``: the text without its envelope and thoughts;
- ``segments``: its sentences and clauses;
- ``tokens``: its words, by their letters;
- ``numbers``, ``dates``, ``ids``: numbers and amounts of money, dates, and what names a record or a person;
- ``agreement``: yes and no, and what asks for them;
- ``claims``: what an agent says that it has done, does now, or cannot do;
- ``turns``: whether a text asks, closes, hands over or acts now;
- ``mentions``: whether a text has a value;
- ``wishes``: what a user wants: the cheapest, all, a person, or nothing any more;
- ``vocabulary``: phrases, and the facts that they ask for;
- ``layout``, ``kinds``, ``parser``: what each sentence of an agent does;
- ``instructions``: what a scenario tells its user in prose.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .message import spoken
from .segments import sentences

if TYPE_CHECKING:
    from .agreement import agrees_at_once, asks_for_yes, hesitates, is_no, is_yes
    from .parser import ParsedText, parse
    from .turns import closes, hands_over, mentions_refusal, waits_for_yes, wants_answer
    from .vocabulary import FACTS, facts_in, follows, identifies_user, words

#: The other public names by their modules, which are imported when a name is asked for.
_HOMES = {
    **dict.fromkeys(("agrees_at_once", "asks_for_yes", "hesitates", "is_no", "is_yes"), "agreement"),
    **dict.fromkeys(("closes", "hands_over", "mentions_refusal", "waits_for_yes", "wants_answer"), "turns"),
    **dict.fromkeys(("ParsedText", "parse"), "parser"),
    **dict.fromkeys(("FACTS", "facts_in", "follows", "identifies_user", "words"), "vocabulary"),
}

__all__ = [
    "FACTS",
    "ParsedText",
    "agrees_at_once",
    "asks_for_yes",
    "closes",
    "facts_in",
    "follows",
    "hands_over",
    "hesitates",
    "identifies_user",
    "is_no",
    "is_yes",
    "mentions_refusal",
    "parse",
    "sentences",
    "spoken",
    "waits_for_yes",
    "wants_answer",
    "words",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
