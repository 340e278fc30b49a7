"""The script of a user in the making, of what a person said turn by turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ....errors import ConfigurationError
from ....language import (
    FACTS,
    facts_in,
    greets,
    has_word,
    identifies_user,
    is_plain_no,
    is_plain_yes,
    listed_in,
    only_gives,
    parse,
    says_unknown,
    sentences,
    stated_as_own,
    thanks,
    without_agreement,
    words,
)
from ....models import Answer, Goal, Request, UserScript

if TYPE_CHECKING:
    from ....language import ParsedText
    from ....models import Call

#: What an agent says that waits for something, or has not done yet what it was asked for.
_NOT_FINISHED = ("offers", "works", "waits", "announces", "greets", "repeats", "transfers")
_TURNS_OVER = frozenset(("asks", "confirms", "offers"))
#: The words of an agent's question by which an answer is found, at the most, and the shortest of them.
_KEY_WORDS, _SHORTEST = 4, 4
_COMMON = frozenset(words("about could from have like please that then there this what which with would you your"))


class Turn(NamedTuple):
    """A text of the person, and the text of the agent that it answers."""

    number: int
    heard: str
    said: str
    is_report: bool


class ScriptDraft:
    """A script in the making: what the person said, turn by turn."""

    def __init__(self, arguments: dict[str, str], failed: set[str], spoken: tuple[tuple[str, str], ...]) -> None:
        self._arguments, self._failed, self._spoken = arguments, failed, spoken
        self._requests: list[dict[str, Any]] = []
        self._begun: list[int] = []
        self._facts: dict[str, str] = {}
        self._accepts: list[str] = []
        self._declines: list[str] = []
        self._corrected: set[tuple[int, str]] = set()

    def hear(self, turn: Turn) -> None:
        """Take what a person says for a request, a fact, a decision or an answer."""
        text, parsed = turn.said, parse(turn.heard)
        if turn.is_report or greets(text) or (self._requests and thanks(text)):
            return
        refused = parsed.any("refuses") and not parsed.is_open
        request = self._requests[-1] if self._requests else {}
        if request and (wrong := self._corrected_by(turn)):
            phrases = [_phrase(value) for value in wrong] + [_asking(parsed)]
            request["answers"].append({"asks": [*filter(None, phrases)], "say": text})
        elif refused and request and request["say"] in text:
            request["insist"] = request.get("insist", 0) + 1
        elif refused and request and "fallback" not in request:
            request["fallback"] = text
        elif not request or refused or self._asks_for_more(text, parsed):
            if request and not refused and not _moves_on(request["say"], parsed):
                # The agent has only said something about the request, which another one need not say.
                request["say"] = f"{_ended(request['say'])} {text}"
            else:
                self._requests.append({"say": text, "facts": {}, "answers": []})
                self._begun.append(turn.number)
            self._keep_values(text)
        elif text != request["say"]:
            self._keep_facts(text, parsed)

    def _corrected_by(self, turn: Turn) -> list[str]:
        """Take the values by which a text corrects others that the agent has named and not found; return the latter."""
        known, wrong = self._requests[-1]["facts"], []
        for name, value in self._values_in(turn.said):
            before = known.get(name, self._facts.get(name, value))
            if before != value and before in self._failed and has_word(turn.heard, before):
                wrong.append(before)
                self._know(name, value)
        return wrong

    def _know(self, name: str, value: str) -> None:
        """Keep a fact, also if another value was known. Who the user is belongs to no single request."""
        if identifies_user(name):
            self._requests[-1]["facts"].pop(name, None)
            self._facts[name] = value
        else:
            self._requests[-1]["facts"][name] = value

    def _keep_values(self, text: str) -> None:
        """Keep the values in a text; of several with one name, such as two orders, all that is said about them."""
        values_by_name: dict[str, list[str]] = {}
        for name, value in self._values_in(text):
            values_by_name.setdefault(name, []).append(value)
        for name, values in values_by_name.items():
            known = self._facts.get(name, self._requests[-1]["facts"].get(name, ""))
            about = [sentence for sentence in sentences(text) if any(has_word(sentence, value) for value in values)]
            if not all(has_word(known, value) for value in values):
                several = len(values) > 1 and (listed_in(text, values, name) or _ended(" ".join(about)))
                self._know(name, several or values[0])

    def _asks_for_more(self, text: str, parsed: ParsedText) -> bool:
        """Return whether a text is a request: the agent has asked for nothing, or only whether there is more."""
        waited = parsed.any("closes") or not (parsed.is_open or parsed.any(*_NOT_FINISHED))
        if not waited or parsed.any("refuses", "confirms") or is_plain_yes(text) or is_plain_no(text):
            return False
        gives = any(only_gives(text, value) for _, value in self._values_in(text))
        return not gives and not any(request["say"] in text for request in self._requests)

    def _values_in(self, text: str) -> list[tuple[str, str]]:
        return [(name, value) for value, name in self._arguments.items() if has_word(text, value)]

    def _keep_facts(self, text: str, parsed: ParsedText) -> None:
        names = (*FACTS, *dict.fromkeys(name for _, name in self._spoken), *self._arguments.values())
        asked_names = [
            name
            for sentence in parsed.sentences
            if "asks" in sentence
            for name in facts_in(sentence.asked or sentence.words, names, self._spoken)
        ]
        parts = sentences(text)
        if len({*asked_names}) == 1 and not _gives_nothing(parts[0]) and not any(map(says_unknown, parts)):
            parts = [text]  # all of it is about the one thing
        for sentence in parts:
            if _gives_nothing(sentence):
                continue
            mentioned = [name for name in facts_in(words(sentence), names, self._spoken) if name in asked_names]
            name = next(iter(mentioned or (asked_names if len(parts) == 1 else [])), None)
            if name is not None:
                self._keep_fact(name, sentence)
            self._keep_values(sentence)

    def _keep_fact(self, name: str, sentence: str) -> None:
        plain = stated_as_own(sentence, name)
        known = [known for own, known in self._values_in(sentence) if own == name]
        is_value = len(known) == 1 and (only_gives(sentence, known[0]) or any(map(str.isdigit, known[0])))
        value = plain or (known[0] if is_value else _ended(without_agreement(sentence)))
        # Who the user is may be asked for at any time; the rest belongs to a request.
        facts = self._facts if identifies_user(name) else self._requests[-1]["facts"]
        if not plain or name not in facts or facts[name] in sentence:
            facts[name] = value

    def remember(self, call: Call, said_before: str) -> None:
        """Let the person know in a request what it has said in one before, if a call of this request needs it."""
        request, needed = self._request_at(call.message_idx), call.call.arguments
        for name, value in self._values_in(said_before):
            if request and name not in self._facts and needed.get(name) == value:
                request["facts"].setdefault(name, value)

    def note(self, number: int, name: str, value: str) -> None:
        """Let the person know a value in the words in which the agent noted it: another agent could not guess them."""
        if request := self._request_at(number):
            fact = request["facts"].get(name)
            if not fact or value not in fact:
                request["facts"][name] = f"{fact} Please note: {value}." if fact else value

    def correct(self, turn: Turn, reply: str) -> bool:
        """Let the script say what the person said where it says something else; return whether that is possible."""
        if (turn.number, reply) in self._corrected or not self._requests or turn.number in self._begun:
            return False
        self._corrected.add((turn.number, reply))
        parsed = parse(turn.heard)
        offers = [sentence for sentence in parsed.sentences if sentence.is_offer or "confirms" in sentence]
        agrees, declines = is_plain_yes(turn.said), is_plain_no(turn.said)
        if offers and (agrees or declines):
            phrase = _key_words(offers[-1].text)
            phrases = self._accepts if agrees else self._declines
            if phrase and phrase not in phrases:
                phrases.append(phrase)
                return True
        phrase = _asking(parsed)
        answers = self._request_at(turn.number)["answers"]
        if not phrase or any(answer["asks"] == [phrase] for answer in answers):
            return False
        answers.append({"asks": [phrase], "say": turn.said})
        return True

    def _request_at(self, number: int) -> dict[str, Any]:
        """Return the request that is open at a message; empty if there is none at all."""
        position = sum(begun < number for begun in self._begun) - 1
        return self._requests[max(position, 0)] if self._requests else {}

    def script(self, goals: list[Goal]) -> UserScript:
        """Return the script so far.

        Raises:
            ConfigurationError: The person has asked for nothing.
        """
        if not self._requests:
            raise ConfigurationError("the person asks for nothing: no text of the user is a request")
        requests = [
            Request.model_validate({**request, "answers": [Answer.model_validate(a) for a in request["answers"]]})
            for request in self._requests
        ]
        return UserScript(
            requests=requests, facts=self._facts, accepts=self._accepts, declines=self._declines, goals=goals
        )


def _moves_on(request: str, parsed: ParsedText) -> bool:
    """Return whether the scripted user takes a text for the end of a request."""
    answers = request.rstrip().endswith("?") and parsed.any("says")
    return answers or parsed.any("closes", "news", "parts", "works")


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _gives_nothing(sentence: str) -> bool:
    """Return whether a sentence is only a yes or a no, or says that something is not known."""
    return says_unknown(sentence) or is_plain_yes(sentence) or is_plain_no(sentence)


def _phrase(value: str) -> str:
    """Return a value as the phrase of an answer: all of its words have to occur."""
    return " ".join(word for word in words(value) if word != "#")


def _asking(parsed: ParsedText) -> str:
    """Return the words of a text's last questions by which they are found again."""
    asking = [sentence for sentence in parsed.sentences if sentence.kinds & _TURNS_OVER] or list(parsed.sentences)
    return _key_words(" ".join(sentence.text for sentence in asking[-2:]))


def _key_words(text: str) -> str:
    """Return the words of an agent's text by which it is found again: long ones, no numbers."""
    candidates = [
        word
        for word in dict.fromkeys(words(text))
        if len(word) >= _SHORTEST and word not in _COMMON and not any(map(str.isdigit, word))
    ]
    longest = sorted(candidates, key=len, reverse=True)[:_KEY_WORDS]
    return " ".join(word for word in candidates if word in longest)
