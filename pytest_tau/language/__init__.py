"""What one message says, in English: the one place that has patterns of wording.

Readers of messages are above: the scripted user, rules of policies, blame, checks of the user, tasks from traces. Each
subject has one module:

- ``message``: the text without its envelope and thoughts;
- ``segments``: its sentences and clauses;
- ``tokens``: its words, by their letters;
- ``numbers``, ``dates``, ``ids``: numbers and amounts of money, dates, and what names a record or a person;
- ``details``: all of these in a text, as far as they are not said by chance;
- ``names``: what the names of tools, arguments and fields say;
- ``documents``: from when a document counts, where it has one look, what it quotes;
- ``agreement``: yes and no, and what asks for them;
- ``claims``: what an agent says that it has done, does now, or cannot do;
- ``turns``: whether a text asks, closes, hands over or acts now;
- ``mentions``: whether a text has a value;
- ``wishes``: what a user wants: the cheapest, all, a person, or nothing any more;
- ``scenarios``: what the prose of a scenario settles, and what it leaves open;
- ``questions``, ``objections``: what a person asks for, and what it says of what was done;
- ``vocabulary``: phrases, and the facts that they ask for;
- ``layout``, ``kinds``, ``parser``: what each sentence of an agent does;
- ``steps``: what an agent asks the user to do with its own tools;
- ``instructions``: what a scenario tells its user in prose.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .message import spoken
from .segments import sentences

if TYPE_CHECKING:
    from .agreement import (
        agrees_at_once,
        asks_for_yes,
        hesitates,
        is_no,
        is_plain_no,
        is_plain_yes,
        is_yes,
        without_agreement,
    )
    from .dates import dates_in
    from .details import CODE_DIGITS, Detail, details_in, values_in
    from .ids import addresses_in, ids_in, is_key
    from .mentions import has_letters_of, has_word, listed_in, only_gives, stated_as_own
    from .message import without_tokens
    from .names import base_name, is_name_of_handover, is_name_of_personal_data, name_words, plain_name
    from .numbers import digits_in, numbers_in, quantity_of, shortest_form
    from .objections import complains, is_objection
    from .parser import ParsedText, parse
    from .questions import fields_asked, questions_in
    from .scenarios import has_condition, wants_booking, wants_secret
    from .tokens import alphanumeric_words, plain_words, squeezed, stems_in, written_words
    from .turns import (
        asks_when,
        closes,
        greets,
        hands_over,
        mentions_refusal,
        says_unknown,
        thanks,
        waits_for_yes,
        wants_answer,
    )
    from .vocabulary import FACTS, facts_in, follows, identifies_user, words

#: The other public names by their modules, which are imported when a name is asked for.
_NAMES = {
    "agreement": "agrees_at_once asks_for_yes hesitates is_no is_plain_no is_plain_yes is_yes without_agreement",
    "dates": "dates_in",
    "details": "CODE_DIGITS Detail details_in values_in",
    "ids": "addresses_in ids_in is_key",
    "mentions": "has_letters_of has_word listed_in only_gives stated_as_own",
    "message": "without_tokens",
    "names": "base_name is_name_of_handover is_name_of_personal_data name_words plain_name",
    "numbers": "digits_in numbers_in quantity_of shortest_form",
    "objections": "complains is_objection",
    "parser": "ParsedText parse",
    "questions": "fields_asked questions_in",
    "scenarios": "has_condition wants_booking wants_secret",
    "tokens": "alphanumeric_words plain_words squeezed stems_in written_words",
    "turns": "asks_when closes greets hands_over mentions_refusal says_unknown thanks waits_for_yes wants_answer",
    "vocabulary": "FACTS facts_in follows identifies_user words",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "CODE_DIGITS",
    "FACTS",
    "Detail",
    "ParsedText",
    "addresses_in",
    "agrees_at_once",
    "alphanumeric_words",
    "asks_for_yes",
    "asks_when",
    "base_name",
    "closes",
    "complains",
    "dates_in",
    "details_in",
    "digits_in",
    "facts_in",
    "fields_asked",
    "follows",
    "greets",
    "hands_over",
    "has_condition",
    "has_letters_of",
    "has_word",
    "hesitates",
    "identifies_user",
    "ids_in",
    "is_key",
    "is_name_of_handover",
    "is_name_of_personal_data",
    "is_no",
    "is_objection",
    "is_plain_no",
    "is_plain_yes",
    "is_yes",
    "listed_in",
    "mentions_refusal",
    "name_words",
    "numbers_in",
    "only_gives",
    "parse",
    "plain_name",
    "plain_words",
    "quantity_of",
    "questions_in",
    "says_unknown",
    "sentences",
    "shortest_form",
    "spoken",
    "squeezed",
    "stated_as_own",
    "stems_in",
    "thanks",
    "values_in",
    "waits_for_yes",
    "wants_answer",
    "wants_booking",
    "wants_secret",
    "without_agreement",
    "without_tokens",
    "words",
    "written_words",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
