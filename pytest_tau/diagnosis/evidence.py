"""What a conversation shows about a value: who has said it first, and whether a tool has shown it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ..documents import DocumentError, parse_json
from ..language import sentences, spoken
from ..language.agreement import asks_for_yes, has_limit, is_no, is_yes
from ..language.claims import words_for_act
from ..language.forms import forms_of
from ..language.ids import kind_in
from ..language.mentions import mentions, mentions_any, mentions_other, short_names
from ..language.message import without_tokens
from ..language.tokens import plain_words
from ..language.turns import closes, waits_for_yes
from ..language.wishes import without_unwanted
from ..models import AssistantMessage, ToolMessage, UserMessage, strings_in

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from ..models import Call, Message, Task

#: Numbers below this stand for many things.
_LEAST_NUMBER = 10
#: Fields of a record by which people name it.
_NAMES = ("name", "title", "product_name")
#: Forms of at most so many characters are in a text by chance.
_SHORT = 2
#: Where something goes does not name it.
_PLACE = "address"
#: Fields below a record that are its own: options of a product.
_DEPTH = 2

Attributes = dict[str, frozenset[str]]


class Evidence:
    """The texts of a conversation, and the records that its tools have shown."""

    def __init__(self, task: Task | None, messages: Sequence[Message], calls: Sequence[Call]) -> None:
        self.messages, self.calls = messages, calls
        self.scenario = task.scenario_text if task is not None else ""
        #: Whether the user is given anything but a persona.
        self.has_scenario = task is not None and _has_scenario(task)
        start = len(task.message_history or ()) if task is not None else 0
        self.said: dict[str, list[tuple[int, str]]] = {"user": [], "assistant": []}
        for number, message in enumerate(messages):
            if isinstance(message, AssistantMessage | UserMessage) and message.has_text_content() and number >= start:
                text = spoken(message.text)
                self.said[message.role].append((number, without_tokens(text) if message.role == "user" else text))

    def texts(self, side: str, before: int | None = None, after: int = -1) -> list[tuple[int, str]]:
        """Return the texts of a side between two messages, with their numbers."""
        last = len(self.messages) if before is None else before
        return [(number, text) for number, text in self.said[side] if after < number < last]

    def mentioned(
        self, side: str, forms: Iterable[str], *, before: int | None = None, last: bool = False
    ) -> int | None:
        """Return the first, or the last, message of a side that has one of these forms as what it wants."""
        wanted = tuple(forms)
        found = [
            number
            for number, text in self.texts(side, before)
            if wanted and mentions_any(without_unwanted(text) if side == "user" else text, wanted)
        ]
        return (found[-1] if last else found[0]) if found else None

    def is_heard(self, value: Any, before: int, others: Iterable[Any] = ()) -> bool:
        """Return whether the user has named a value before a message, or the agent has."""
        forms = self.forms(value, others)
        return any(self.mentioned(side, forms, before=before) is not None for side in ("user", "assistant"))

    def is_other_meant(self, value: Any, before: int) -> bool:
        """Return whether the user has spoken of "the other card", which a value may be."""
        return any(_is_other_in(text, value) for _, text in self.texts("user", before))

    def is_in_scenario(self, value: Any, others: Iterable[Any] = ()) -> bool:
        """Return whether the scenario wants a value and none of the others, or speaks of "the other card"."""
        scenario, others = without_unwanted(self.scenario), list(others)
        if _is_other_in(scenario, value):
            return True
        rest = [form for other in others for form in self.forms(other, (value,))]
        return mentions_any(scenario, self.forms(value, others)) and not mentions_any(scenario, rest)

    def orders(self, tool: str, before: int) -> list[str]:
        """Return the sentences of the user before a message that have a word for what a tool does."""
        return [sentence for _, text in self.texts("user", before) for sentence in self.orders_in(tool, text)]

    @staticmethod
    def orders_in(tool: str, text: str) -> list[str]:
        """Return the sentences of a text that have a word for what a tool does."""
        act = words_for_act(tool.partition("_")[0].lower())
        return [each for each in sentences(text) if any(map(act.fullmatch, plain_words(each)))]

    def agreement(self, before: int) -> tuple[int, int] | None:
        """Return the request and the yes to it that come last before a message; None if there is no such pair.

        A yes with a limit, such as "yes, but not the second one", proves agreement to no certain part.
        """
        answers = self.texts("user", before)
        if not answers or not is_yes(answers[-1][1]) or has_limit(answers[-1][1]):
            return None
        asked = self.texts("assistant", answers[-1][0])
        return (asked[-1][0], answers[-1][0]) if asked and asks_for_yes(asked[-1][1]) else None

    def agreements(self) -> Iterator[tuple[int, int]]:
        """Yield each request for a yes and the user's yes to it, in their order."""
        for number, _ in self.texts("user"):
            agreed = self.agreement(number + 1)
            if agreed is not None:
                yield agreed

    def declined(self) -> tuple[str, str] | None:
        """Return the agent's last request for a yes and the user's answer, if that is a no."""
        for number, text in reversed(self.texts("user")):
            asked = self.texts("assistant", number)
            if asked and waits_for_yes(asked[-1][1]) and not closes(asked[-1][1]):
                return (asked[-1][1], text) if is_no(text) else None
        return None

    def text(self, number: int) -> str:
        """Return the text of a message."""
        return dict([*self.said["user"], *self.said["assistant"]]).get(number, "")

    @functools.cached_property
    def results(self) -> list[tuple[int, Any]]:
        """The results of the agent's calls as values, with the numbers of their messages."""
        found = []
        for number, message in enumerate(self.messages):
            if isinstance(message, ToolMessage) and not message.error and message.content:
                found.append((number, value_of(message.content)))
        return found

    @functools.cached_property
    def listed(self) -> frozenset[str]:
        """The texts in lists of the results, such as the ids of a user's orders."""
        return frozenset(text for texts in self._lists for text in texts)

    @functools.cached_property
    def _lists(self) -> list[list[str]]:
        return [texts for _, value in self.results for texts in _lists_in(value)]

    def siblings(self, text: str) -> list[str]:
        """Return the other texts of the lists in which a result has a text."""
        return list(dict.fromkeys(other for texts in self._lists if text in texts for other in texts if other != text))

    @functools.cached_property
    def records(self) -> dict[str, Attributes]:
        """What the results show of each record, by its id: the texts of its fields."""
        shown = [record for _, value in self.results for record in _records_in(value)]
        surest: dict[str, int] = {}
        for name, _, rank in shown:
            surest[name] = max(rank, surest.get(name, rank))
        found: dict[str, dict[str, set[str]]] = {}
        for name, record, rank in shown:
            if rank == surest[name]:
                fields = found.setdefault(name, {})
                for field, text in _fields(record):
                    fields.setdefault(field, set()).add(text)
        return {name: {field: frozenset(texts) for field, texts in fields.items()} for name, fields in found.items()}

    def is_shown(self, value: Any) -> bool:
        """Return whether a result has a value."""
        if str(value) in self.records:
            return True
        text = str(value).lower()
        return any(text == shown.lower() for _, result in self.results for shown in scalars(result)) or any(
            isinstance(result, str) and mentions(result, value) for _, result in self.results
        )

    def forms(self, value: Any, others: Iterable[Any] = ()) -> list[str]:
        """Return how people name a value, without what also names one of the others that may be meant instead.

        These are the value itself and, of a record, what its fields say and those of the others do not say.
        """
        if isinstance(value, bool):
            return []
        if isinstance(value, int | float):
            return _number_forms(value) if abs(value) >= _LEAST_NUMBER else []
        others = list(others)
        known = [self.records[str(other)].keys() for other in others if str(other) in self.records]
        fields = set.intersection(*map(set, known)) if known else None
        shared = {form.lower() for other in others for form in (*self._names(other), kind_in(str(other)))}
        return [*forms_of(value), *(form for form in self._names(value, fields) if form.lower() not in shared)]

    def options(self, value: Any) -> Attributes:
        """Return the fields below a record, such as the options of a variant."""
        return {field: texts for field, texts in self.records.get(str(value), {}).items() if "." in field}

    def price(self, value: Any) -> float | None:
        """Return the price of a record; None if none or several are shown."""
        numbers = {float(text.replace(",", "")) for text in self.records.get(str(value), {}).get("price", ())}
        return numbers.pop() if len(numbers) == 1 else None

    def cost(self, value: Any, choices: Iterable[str], before: int) -> float | None:
        """Return the price of a record that a tool had last shown for one of some choices: of a flight, for a cabin."""
        chosen = set(choices)
        shown = [
            cost
            for number, result in self.results
            if number < before
            for record in _dicts_in(result)
            if any(part == value for field, part in record.items() if field.endswith(("id", "number")))
            for cost in _of_choice(record, chosen)
        ]
        return shown[-1] if shown else None

    def _names(self, value: Any, only: Collection[str] | None = None) -> list[str]:
        """Return the forms of the fields of a record, or only of some fields."""
        fields = self.records.get(str(value), {})
        if only is not None:
            fields = {field: texts for field, texts in fields.items() if field in only}
        words = [
            form
            for field, texts in fields.items()
            for text in texts
            for form in (short_names(text) if field.rpartition(".")[2] in _NAMES else [text.replace("_", " ")])
            if len(form) > _SHORT
        ]
        kind = kind_in(str(value))
        return [*words, *([kind] if kind and str(value) in self.records else [])]


def value_of(content: str) -> Any:
    """Return the value of a tool's result: what its JSON says, or its text."""
    try:
        return parse_json(content)
    except DocumentError:
        return content


def _lists_in(value: Any) -> Iterator[list[str]]:
    """Yield the texts of each list in a value."""
    if isinstance(value, list):
        yield [text for text in value if isinstance(text, str)]
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _lists_in(inner)


def _dicts_in(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _dicts_in(inner)


def _of_choice(record: dict[str, Any], chosen: set[str]) -> Iterator[float]:
    """Yield what a record's fields of prices have for what was chosen."""
    for field, part in record.items():
        if "price" in field and isinstance(part, dict):
            yield from (float(cost) for name, cost in part.items() if name in chosen and isinstance(cost, int | float))


def _is_other_in(text: str, value: Any) -> bool:
    thing = kind_in(str(value)).rpartition(" ")[2]
    return bool(thing) and mentions_other(text, thing)


def _records_in(value: Any, key: str = "") -> Iterator[tuple[str, dict[str, Any], int]]:
    """Yield the records in a result with their ids, and how sure it is that the id is the record's own.

    It is sure (2) if the record is below it, or if it is in the field ``id`` or that of an item, and likely (1) in the
    first field. Any other record that has the id (0), such as a payment, describes it if nothing else does.
    """
    if isinstance(value, dict):
        fields = [name for name in value if name.endswith("id") and isinstance(value[name], str)]
        item = next((name for name in fields if name.startswith("item")), None)
        for name in [item] if item else fields[:1]:
            yield value[name], value, 2 if name in ("id", item) else int(next(iter(value)) == name)
        if any(map(str.isdigit, key)):
            yield key, value, 2
        for name, inner in value.items():
            yield from _records_in(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _records_in(inner)


def _fields(record: dict[str, Any], depth: int = 0, prefix: str = "") -> Iterator[tuple[str, str]]:
    for field, value in record.items():
        if isinstance(value, str) and value and not field.endswith("id"):
            yield prefix + field, value
        elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) >= _LEAST_NUMBER:
            for form in _number_forms(value):
                yield prefix + field, form
        elif isinstance(value, dict) and depth + 1 < _DEPTH and _PLACE not in field:
            yield from _fields(value, depth + 1, f"{prefix}{field}.")
        elif isinstance(value, list):
            for inner in value:
                names = [inner[name] for name in _NAMES if name in inner] if isinstance(inner, dict) else []
                yield from ((f"{prefix}{field}.name", name) for name in names if isinstance(name, str))


def _number_forms(value: float) -> list[str]:
    return list(dict.fromkeys([f"{value:g}", str(value), f"{value:.2f}", f"{value:,.2f}", f"{value:,g}"]))


def scalars(value: Any) -> Iterator[str]:
    """Yield the texts, numbers and keys in a result, as text."""
    yield from strings_in(value)
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from scalars(inner) if isinstance(inner, dict | list) else [str(inner)]
        yield from (value if isinstance(value, dict) else ())


def _has_scenario(task: Task) -> bool:
    given = task.scenarios
    told = [text for each in given for text in strings_in(each.model_dump(mode="json", exclude={"persona"}))]
    domains = {each.instructions.domain for each in given if not isinstance(each.instructions, str)}
    return any(text.strip() for text in told if text not in domains)
