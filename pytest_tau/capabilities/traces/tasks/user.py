"""The user of a task, made of what the person of a recorded conversation said: a script, and the same in prose."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ....environment.results import is_error
from ....models import Answer, AssistantMessage, Goal, Instructions, Request, UserScenario, UserScript
from ....models.messages import GREETING, STOP_TOKENS
from ....participants import ParticipantContext, ScriptedUser, view_of
from ....participants.scripted.parser import parse
from ....participants.scripted.vocabulary import FACTS, facts_in, identifies_user, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ....environment import Domain
    from ....models import Message, Task
    from ....models.simulations import Call
    from ....participants.scripted.parser import ParsedText

#: Rounds in which what a script says otherwise than the person is corrected.
_ROUNDS = 12
_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'#])")
_YES = re.compile(
    r"^(?:yes|yeah|yep|sure|ok|okay|correct|go ahead|please do|that works|confirmed?|i agree|right)\b"
    r"(?:[ ,]+[\w']+){0,2}[.!]*$",
    re.IGNORECASE,
)
_NO = re.compile(r"^(?:no|nope|no,? thank(?:s| you)|i'd rather not|not (?:now|really|today))[.!]*$", re.IGNORECASE)
_GREETS = re.compile(r"^(?:hi|hello|hey|good (?:morning|afternoon|evening))\b[\w ,]{0,12}[.!]*$", re.IGNORECASE)
_THANKS = re.compile(
    r"^(?:ok(?:ay)?|great|perfect|all right|good|no)?[,.! ]*(?:many )?(?:thanks?|bye|that(?:'s| is| was) all)",
    re.IGNORECASE,
)
#: A text that only gives a value, which follows.
_GIVES = r"(?:(?:oh|ok|okay|sorry|yes|sure)\W+)*(?:(?:my [\w ]+|it|that|this) (?:is|are)|it's|that's)?\W*"
#: A result that says, without being an error, that there is nothing.
_NOTHING = re.compile(r"\s*(?:null|\[\s*\]|\{\s*\}|\{\s*\"error\".*)?\s*", re.DOTALL)
_UNKNOWN = re.compile(r"\b(?:do not|don't) (?:know|have|remember)\b")
#: What an agent says that waits for something, or has not done yet what it was asked for.
_NOT_FINISHED = ("offers", "works", "waits", "announces", "greets", "repeats", "transfers")
_TURNS_OVER = frozenset(("asks", "confirms", "offers"))
#: The words of an agent's question by which an answer is found, at the most, and the shortest of them.
_KEY_WORDS, _SHORTEST = 4, 4
_COMMON = frozenset(words("about could from have like please that then there this what which with would you your"))


class _Turn(NamedTuple):
    """A text of the person, and the text of the agent that it answers."""

    number: int
    heard: str
    said: str
    is_report: bool


def scenario_of(
    domain: Domain, task: Task, messages: Sequence[Message], calls: Sequence[Call], domain_name: str | None = None
) -> UserScenario:
    """Return a user that says what the person said, in the same order of disclosure.

    Args:
        domain: The domain.
        task: The task without a user, for its initial state.
        messages: The conversation, oldest first.
        calls: Its calls with their results.
        domain_name: The name of the domain for the prose; None to omit it.
    """
    turns = _turns(messages)
    draft = _Draft(_arguments(calls), _failed(calls), tuple(_spoken(domain)))
    for turn in turns:
        draft.hear(turn)
    for made in calls:
        said = " ".join(turn.said for turn in turns if turn.number < made.message_idx)
        draft.remember(made, said)
    goals = list(_goals(domain, task, messages))
    for each in _noted(domain, messages, calls):
        draft.note(*each)
    script = draft.script(goals)
    for _ in range(_ROUNDS):
        scenario = UserScenario(instructions=_prose(script, domain_name), script=script)
        differing = _differences(domain, task.model_copy(update={"user_scenario": scenario}), messages, turns)
        if not any(draft.correct(*each) for each in differing):
            return scenario
        script = draft.script(goals)
    return scenario


def _turns(messages: Sequence[Message]) -> list[_Turn]:
    found, heard = [], ""
    for number, message in enumerate(messages):
        if message.role == "assistant" and message.content and not message.tool_calls:
            heard = message.content
        elif message.role == "user" and message.content and not message.tool_calls:
            before = messages[number - 1] if number else None
            report = before is not None and before.role == "tool" and before.requestor == "user"
            if said := _without_tokens(message.content):
                found.append(_Turn(number, heard, said, report))
    return found


def _without_tokens(text: str) -> str:
    for token in STOP_TOKENS:
        text = text.replace(token, "")
    return text.strip()


def _arguments(calls: Sequence[Call]) -> dict[str, str]:
    """Return the names of arguments of calls by their values, as texts that a person could say."""
    found: dict[str, str] = {}
    for each in calls:
        for name, value in each.call.arguments.items():
            long = len(str(value)) > (1 if any(map(str.isdigit, str(value))) else 2)
            if isinstance(value, str | int) and not isinstance(value, bool) and long:
                found.setdefault(str(value), name)
    return found


def _failed(calls: Sequence[Call]) -> set[str]:
    """Return values of arguments, as texts, with which no call has found or done anything."""
    failed: set[str] = set()
    worked: set[str] = set()
    for each in calls:
        nothing = each.result is None or is_error(each.result) or _NOTHING.fullmatch(each.result.content or "")
        (failed if nothing else worked).update(map(str, each.call.arguments.values()))
    return failed - worked


def _spoken(domain: Domain) -> Iterator[tuple[str, str]]:
    tools = domain.spec.tool_names
    for name, spoken in domain.spec.spoken.items():
        if name not in tools:
            yield from ((phrase, name) for phrase in spoken.phrases)


class _Draft:
    """A script in the making: what the person said, turn by turn."""

    def __init__(self, arguments: dict[str, str], failed: set[str], spoken: tuple[tuple[str, str], ...]) -> None:
        self._arguments, self._failed, self._spoken = arguments, failed, spoken
        self._requests: list[dict[str, Any]] = []
        self._begun: list[int] = []
        self._facts: dict[str, str] = {}
        self._accepts: list[str] = []
        self._declines: list[str] = []
        self._corrected: set[tuple[int, str]] = set()

    def hear(self, turn: _Turn) -> None:
        """Take what a person says for a request, a fact, a decision or an answer."""
        said, parsed = turn.said, parse(turn.heard)
        if turn.is_report or _GREETS.match(said) or (self._requests and _THANKS.match(said)):
            return
        refused = parsed.any("refuses") and not parsed.is_open
        request = self._requests[-1] if self._requests else {}
        if request and (wrong := self._corrected_by(turn)):
            phrases = [_phrase(each) for each in wrong] + [_asking(parsed)]
            request["answers"].append({"asks": [*filter(None, phrases)], "say": said})
        elif refused and request and request["say"] in said:
            request["insist"] = request.get("insist", 0) + 1
        elif refused and request and "fallback" not in request:
            request["fallback"] = said
        elif not request or refused or self._is_finished(said, parsed):
            self._requests.append({"say": said, "facts": {}, "answers": []})
            self._begun.append(turn.number)
            for name, value in self._values_in(said).items():
                self._know(name, value)
        elif said != request["say"]:
            self._keep_facts(said, parsed)

    def _corrected_by(self, turn: _Turn) -> list[str]:
        """Take the values by which a text corrects others that the agent has named and not found; return the latter."""
        known, wrong = self._requests[-1]["facts"], []
        for name, value in self._values_in(turn.said).items():
            before = known.get(name, self._facts.get(name, value))
            if before != value and before in self._failed and _contains(turn.heard, before):
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

    def _is_finished(self, said: str, parsed: ParsedText) -> bool:
        """Return whether a text is a request: the agent has asked for nothing, or only whether there is more."""
        waited = parsed.any("closes") or not (parsed.is_open or parsed.any(*_NOT_FINISHED))
        if not waited or parsed.any("refuses", "confirms") or _YES.match(said) or _NO.match(said):
            return False
        values = map(re.escape, self._values_in(said).values())
        gives = any(re.fullmatch(rf"{_GIVES}{value}\W*", said, re.IGNORECASE) for value in values)
        return not gives and not any(each["say"] in said for each in self._requests)

    def _values_in(self, said: str) -> dict[str, str]:
        return {name: value for value, name in self._arguments.items() if _contains(said, value)}

    def _keep_facts(self, said: str, parsed: ParsedText) -> None:
        names = (*FACTS, *dict.fromkeys(name for _, name in self._spoken), *self._arguments.values())
        asked = [
            name
            for sentence in parsed.sentences
            if "asks" in sentence
            for name in facts_in(sentence.asked or sentence.words, names, self._spoken)
        ]
        sentences = _SENTENCES.split(said)
        if len({*asked}) == 1 and not any(each.match(sentences[0]) for each in (_YES, _NO, _UNKNOWN)):
            sentences = [said]  # all of it is about the one thing
        for sentence in sentences:
            if _UNKNOWN.search(sentence) or _YES.match(sentence) or _NO.match(sentence):
                continue
            named = [each for each in facts_in(words(sentence), names, self._spoken) if each in asked]
            name = next(iter(named or (asked if len(sentences) == 1 else [])), None)
            if name is not None:
                self._keep_fact(name, sentence)
            for other, value in self._values_in(sentence).items():
                if not _contains(self._facts.get(other, self._requests[-1]["facts"].get(other, "")), value):
                    self._know(other, value)

    def _keep_fact(self, name: str, sentence: str) -> None:
        plain = re.fullmatch(rf"My {name.replace('_', ' ')} (?:is|are) (.+?)\.?", sentence)
        value = plain[1] if plain else sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."
        # Who the user is may be asked for at any time; the rest belongs to a request.
        own = self._facts if identifies_user(name) else self._requests[-1]["facts"]
        if not plain or name not in own or own[name] in sentence:
            own[name] = value

    def remember(self, made: Call, said: str) -> None:
        """Let the person know in a request what it has said in one before, if a call of this request needs it."""
        request, needed = self._request_at(made.message_idx), made.call.arguments
        for name, value in self._values_in(said).items():
            if request and name not in self._facts and needed.get(name) == value:
                request["facts"].setdefault(name, value)

    def note(self, number: int, name: str, value: str) -> None:
        """Let the person know a value in the words in which the agent noted it: another agent could not guess them."""
        if request := self._request_at(number):
            said = request["facts"].get(name)
            request["facts"][name] = f"{said} Please note: {value}." if said else value

    def correct(self, turn: _Turn, reply: str) -> bool:
        """Let the script say what the person said where it says something else; return whether that is possible."""
        if (turn.number, reply) in self._corrected or not self._requests or turn.number in self._begun:
            return False
        self._corrected.add((turn.number, reply))
        parsed = parse(turn.heard)
        offers = [each for each in parsed.sentences if each.is_offer or "confirms" in each]
        if offers and (_YES.match(turn.said) or _NO.match(turn.said)):
            phrase = _key_words(offers[-1].text)
            kept = self._accepts if _YES.match(turn.said) else self._declines
            if phrase and phrase not in kept:
                kept.append(phrase)
                return True
        phrase = _asking(parsed)
        answers = self._request_at(turn.number)["answers"]
        if not phrase or any(each["asks"] == [phrase] for each in answers):
            return False
        answers.append({"asks": [phrase], "say": turn.said})
        return True

    def _request_at(self, number: int) -> dict[str, Any]:
        """Return the request that is open at a message; empty if there is none at all."""
        position = sum(begun < number for begun in self._begun) - 1
        return self._requests[max(position, 0)] if self._requests else {}

    def script(self, goals: list[Goal]) -> UserScript:
        """Return the script so far."""
        requests = [
            Request.model_validate({**each, "answers": [Answer.model_validate(a) for a in each["answers"]]})
            for each in self._requests
        ]
        return UserScript(
            requests=requests, facts=self._facts, accepts=self._accepts, declines=self._declines, goals=goals
        )


def _contains(text: str, value: str) -> bool:
    return re.search(rf"(?<![\w]){re.escape(value)}(?![\w])", text) is not None


def _phrase(value: str) -> str:
    """Return a value as the phrase of an answer: all of its words have to occur."""
    return " ".join(word for word in words(value) if word != "#")


def _asking(parsed: ParsedText) -> str:
    """Return the words of a text's last questions by which they are found again."""
    asking = [each for each in parsed.sentences if each.kinds & _TURNS_OVER] or list(parsed.sentences)
    return _key_words(" ".join(each.text for each in asking[-2:]))


def _key_words(text: str) -> str:
    """Return the words of an agent's text by which it is found again: long ones, no numbers."""
    found = [
        word
        for word in dict.fromkeys(words(text))
        if len(word) >= _SHORTEST and word not in _COMMON and not any(map(str.isdigit, word))
    ]
    kept = sorted(found, key=len, reverse=True)[:_KEY_WORDS]
    return " ".join(word for word in found if word in kept)


def _goals(domain: Domain, task: Task, messages: Sequence[Message]) -> Iterator[Goal]:
    """Yield the checks that the user made on its own device before it said goodbye, unasked."""
    last = next((n for n in range(len(messages) - 1, -1, -1) if messages[n].role == "assistant"), len(messages))
    environment = domain.environment(task)
    for number in range(last + 1, len(messages) - 1):
        message, result = messages[number], messages[number + 1]
        if message.role != "user" or not message.tool_calls or result.role != "tool" or is_error(result):
            continue
        call = message.tool_calls[0]
        if environment.mutates(call.name, "user") or not environment.has_tool(call.name, "user"):
            continue
        before = environment.call(call.name, call.arguments, "user").content or ""
        new = [word for word in re.findall(r"\w+", result.content or "") if word.lower() not in before.lower()]
        if expected := [word for word in new if word.isalpha()] or new[:1]:
            yield Goal(tool=call.name, arguments=call.arguments, expects=list(dict.fromkeys(expected)))


def _differences(
    domain: Domain, task: Task, messages: Sequence[Message], turns: Sequence[_Turn]
) -> Iterator[tuple[_Turn, str]]:
    """Yield the turns in which a scripted user says something else, and what; reports of calls aside."""
    replies = scripted_replies(domain, task, messages)
    for turn in turns:
        reply = replies.get(turn.number)
        if reply is None or turn.is_report or turn is turns[-1]:
            continue
        if _essence(reply) != _essence(turn.said):
            yield turn, reply


def unsaid(messages: Sequence[Message], others: Sequence[Message]) -> list[str]:
    """Return what the person said in one conversation and not in the other: no yes or no, and nothing repeated."""
    heard = "\n".join(turn.said for turn in _turns(others))
    texts = [turn.said for turn in _turns(messages) if not turn.is_report]
    small = (_YES, _NO, _GREETS, _THANKS)
    return [
        text
        for number, text in enumerate(texts)
        if text not in heard
        and not any(each.match(text) for each in small)
        and not any(e in text for e in texts[:number])
    ]


def _essence(text: str) -> tuple[str, ...]:
    text = _without_tokens(text)
    return ("yes",) if _YES.match(text) else ("no",) if _NO.match(text) else words(text)


def scripted_replies(domain: Domain, task: Task, messages: Sequence[Message]) -> dict[int, str]:
    """Return what the scripted user of a task says in a recorded conversation, by the number of the person's message.

    The recorded calls of the agent are made, those of the person are not: the scripted user makes its own.
    """
    environment = domain.environment(task)
    context = ParticipantContext(
        "user", environment.tools("user"), "", view_of(task, "user"), seed=0, spoken=domain.spec.spoken
    )
    user, replies, said = ScriptedUser(context), dict[int, str](), ""
    if messages and messages[0].role == "user":
        said = user.respond_at_once(AssistantMessage(content=GREETING)).text
    for number, message in enumerate(messages):
        if message.role == "assistant":
            for call in message.tool_calls or ():
                environment.call(call.name, call.arguments, call.requestor)
            if message.content and not message.tool_calls:
                reply = user.respond_at_once(message)
                while reply.tool_calls:
                    reply = user.respond_at_once(environment.answer(reply.tool_calls[0]))
                said = reply.text
        elif message.role == "user" and message.content and not message.tool_calls and said:
            replies[number], said = said, ""
            if any(token in replies[number] for token in STOP_TOKENS):
                break
    return replies


def _noted(domain: Domain, messages: Sequence[Message], calls: Sequence[Call]) -> Iterator[tuple[int, str, str]]:
    """Yield what the agent has put into its own words: arguments of writes that neither the person nor a result had."""
    environment = domain.environment()
    for each in calls:
        known = (m for n, m in enumerate(messages) if m.role == "user" or (m.role == "tool" and n < each.message_idx))
        said = " ".join(m.content or "" for m in known).lower()
        if environment.mutates(each.call.name, "assistant"):
            for name, value in each.call.arguments.items():
                if isinstance(value, str) and value and value.lower() not in said:
                    yield each.message_idx, name, value


def _prose(script: UserScript, domain_name: str | None) -> Instructions:
    first = script.requests[0]
    known = [f"{name.replace('_', ' ')}: {value}" for name, value in script.facts.items()]
    for request in script.requests:
        known += [f"{name.replace('_', ' ')}: {value}" for name, value in request.facts.items()]
    steps = ["Give what you know only when you are asked for it."]
    for number, request in enumerate(script.requests):
        steps += [f"When that is done, say: {request.say!r}"] if number else []
        steps += [f"If it is refused, insist {request.insist} times."] if request.insist else []
        steps += [f"If it stays refused, say: {request.fallback!r}"] if request.fallback else []
        steps += [f"Asked about {' '.join(each.asks)}, say: {each.say!r}" for each in request.answers]
    steps += [f"Accept an offer of this kind: {each}." for each in script.accepts]
    steps += [f"Decline an offer of this kind: {each}." for each in script.declines]
    steps += [f"Before you are content, check {each.tool} for {', '.join(each.expects)}." for each in script.goals]
    return Instructions(
        domain=domain_name,
        reason_for_call=first.say,
        known_info="\n".join(dict.fromkeys(known)) or None,
        task_instructions="\n".join(steps),
    )
