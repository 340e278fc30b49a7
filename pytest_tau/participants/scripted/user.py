"""A deterministic user without a model, which follows the task's script."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from ...language.agreement import asks_to_proceed
from ...language.instructions import says_all_at_first, withheld_facts
from ...language.offers import is_one_of_two, is_too_dear
from ...language.parser import parse
from ...language.turns import checks_fact, restates_wish
from ...language.vocabulary import facts_in, identifies, identifies_user, same_fact
from ...models import MultiToolMessage, ToolCall, ToolMessage, UserMessage
from ..base import BuiltIn
from ..behaviours import Heard, Manner
from ..personas import is_minimal, without_pleasantries
from .decisions import NO, YES, Decisions
from .device import Device, describe_call
from .memory import Memory, Understanding
from .prose import prose_of, script_of

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
    from typing import TypeAlias

    from ...language.parser import ParsedText
    from ...models import Goal, Message
    from ..context import Incoming, ParticipantContext, Reply
    from ..task_views import UserTask
    from .device import Step
    from .memory import Outcome

    Acting: TypeAlias = Generator[ToolCall, ToolMessage, str]


STOP, TRANSFER = "###STOP###", "###TRANSFER###"
_MAX_STEPS = 12


class ScriptedUser(BuiltIn):
    """Answers by ``task.user_scenario.script``, or by a script made of the prose if a task has none.

    Attributes:
        understandings: How each of the agent's texts was taken, oldest first.
    """

    def __init__(self, context: ParticipantContext) -> None:
        task: UserTask = context.task  # type: ignore[assignment] # a user has its scenario
        tools = list(context.tools)
        self._device = Device(tools, context.spoken)
        behaviour = context.behaviour
        self._manner = behaviour.begin(context.seed) if behaviour else Manner(random.Random(0))  # noqa: S311
        self._may_give_up = behaviour is not None and "gave-up" in behaviour.excuses
        script = script_of(task, tools, context.spoken)
        self._script = self._manner.script(script)
        # A script says everything; what it keeps back are answers and no facts.
        prose = prose_of(task.user_scenario) if task.user_scenario.script is None else ""
        self._withheld = withheld_facts(prose, script.facts)
        self._at_first = self._script.facts if says_all_at_first(prose) else {}
        self._spoken = tuple(
            (phrase, name)
            for name, spoken in context.spoken.items()
            if name not in self._device
            for phrase in spoken.phrases
        )
        self._memory = Memory(self._script, self._manner.value)
        self._decisions = Decisions(self._script, self._memory)
        self._turn = -1
        self._heard = ""
        self._outcome: Outcome = "understood"
        self.understandings: list[Understanding] = []
        self._acting: Acting | None = None
        self._minimal = is_minimal(context.persona)
        self._opened = _has_begun(context.past)

    def respond_at_once(self, message: Incoming) -> UserMessage:
        """Return the next message, also where an event loop runs: the user waits for nothing."""
        try:
            self.respond(message).send(None)
        except StopIteration as end:
            reply: UserMessage = end.value
            return reply
        raise AssertionError("the scripted user waits for nothing")

    async def respond(self, message: Incoming) -> Reply:
        """Return the user's answer to the agent's text or to the result of its own call."""
        try:
            if self._acting is None:
                self._heard, self._outcome = message.content or "", "understood"
                self._acting = self._answer(self._heard)
                call = next(self._acting)
            else:
                call = self._acting.send(_result(message))
        except StopIteration as end:
            self._acting = None
            said = without_pleasantries(end.value) if self._minimal else end.value
            self.understandings.append(Understanding(self._heard, said, self._outcome))
            return UserMessage(content=said, misunderstanding=None if self._outcome == "understood" else self._outcome)
        return UserMessage(tool_calls=[call])

    def _answer(self, text: str) -> Acting:
        """Make the calls that the agent asks for, then return the text of the reply."""
        parsed, memory = parse(text), self._memory
        if parsed.any("transfers"):
            return f"All right, thank you. {TRANSFER}"
        self._turn += 1
        refuses, confirms = parsed.refuses, parsed.any("confirms")
        heard = Heard(text, self._turn, memory.request.say, refuses, confirms)
        return self._manner.instead(heard) or self._manner.reply((yield from self._said(parsed)), heard)

    def _said(self, parsed: ParsedText) -> Acting:
        """Make the calls that the agent asks for, then return the text of a user that cooperates."""
        memory = self._memory
        parts = [] if self._opened else self._open()
        steps = self._device.steps(parsed)[:_MAX_STEPS]
        did = yield from self._make_calls(steps)
        parts += [*did, *self._answer_questions(parsed, {step.sentence for step in steps})]
        parts = parts or (yield from self._answer_statement(parsed))
        if memory.is_out_of_patience():
            self._outcome = "understood" if self._may_give_up else "gave up"
            return f"This is getting us nowhere. I give up. {STOP}"
        return " ".join(parts)

    def _open(self) -> list[str]:
        self._opened = True
        said = self._memory.put_request()
        return [said, *self._memory.volunteer(name for name, value in self._at_first.items() if value not in said)]

    # Requests of the agent

    def _make_calls(self, steps: list[Step]) -> Generator[ToolCall, ToolMessage, list[str]]:
        """Make the calls that the agent asks for; return a sentence about each."""
        parts = []
        for step in steps:
            if self._decisions.declines(step.sentence):
                parts.append(NO)
                self._memory.note("declined", step.sentence)
            elif step.missing:
                parts.append(f"Which {' and '.join(step.missing).replace('_', ' ')} do you mean?")
            else:
                parts.append((yield from self._make_call(step)))
        return parts

    def _make_call(self, step: Step) -> Acting:
        result = yield _call(step.tool, step.arguments)
        if step.is_wrong(result.content or ""):
            # The state was right before; a person would have looked first.
            result = yield _call(step.tool, step.arguments)
        said = describe_call(step.tool, result.content or "", error=result.error)
        self._memory.note("did", step.tool, said)
        return said

    def _answer_questions(self, parsed: ParsedText, done: set[str]) -> list[str]:
        """Return prepared answers, facts, and yes or no; ``done`` are sentences whose calls were made."""
        memory = self._memory
        asked = self._asked(parsed, done) or self._asked_identity(parsed)
        prepared = {each.text for each in parsed.sentences if memory.is_prepared(each)}
        besides = self._asked(parsed, {*done, *prepared})
        if answers := memory.answers(parsed, confirming=not besides and _asks_to_act(parsed)):
            told = " ".join(answers)
            new = [name for name in besides if prepared and memory.value(name) not in told]
            return [*filter(None, (memory.fact(name, again=False) for name in new)), *answers]
        refused = parsed.refuses and not parsed.any("confirms")
        again = not parsed.any("refuses") or parsed.any("confirms")
        facts = [part for name in asked if (part := memory.fact(name, again=again))]
        if facts:
            missing = [each for each in asked if identifies(each) and not memory.knows(each)]
            right = [YES] if self._is_checked(asked, parsed) else []
            facts = [*_unknown(missing), *right, *self._manner.facts(facts)]
        offers = not facts and (not refused or self._decisions.accepts(parsed.text))
        decided = self._decide(parsed, offers=offers, choices=offers and not asked)
        if decided and not facts and any(each.is_which for each in parsed.sentences):
            decided += self._describe(*asked)
        return facts + decided

    def _asked(self, parsed: ParsedText, done: Collection[str] = ()) -> list[str]:
        names: list[str] = []
        before: tuple[str, ...] = ()
        for sentence in parsed.sentences:
            if "asks" in sentence and "closes" not in sentence and sentence.text not in done:
                found = self._facts_in(sentence.asked)
                if sentence.form == "item" and "confirms" not in sentence and not any(map(self._memory.knows, found)):
                    found += self._facts_in(sentence.words)
                if not found and sentence.refers and "confirms" not in sentence:
                    found = self._facts_in(sentence.words) or self._facts_in(before)
                if not found and "or" in sentence.words and "confirms" not in sentence:
                    found = [name for name, value in self._memory.facts.items() if is_one_of_two(sentence.text, value)]
                names += found
            before = sentence.words
        return list(dict.fromkeys(names))

    def _asked_identity(self, parsed: ParsedText) -> list[str]:
        """Return the facts that tell who the user is, if the agent wants to know that and does not say by which."""
        if not any({"identifies", "asks"} <= each.kinds for each in parsed.sentences):
            return []
        return [name for name in self._memory.facts if identifies_user(name) and name not in self._withheld]

    def _is_checked(self, asked: Sequence[str], parsed: ParsedText) -> bool:
        """Return whether the agent shows the one fact that it asks for, and asks whether it is right."""
        if len(asked) != 1 or not checks_fact(parsed.text):
            return False
        value = self._memory.value(asked[0])
        return bool(value) and value.lower() in parsed.text.lower()

    def _facts_in(self, text: tuple[str, ...]) -> list[str]:
        return facts_in(text, tuple(self._memory.facts), self._spoken)

    def _decide(self, parsed: ParsedText, *, offers: bool, choices: bool) -> list[str]:
        """Return yes or no to confirmations, to offers if ``offers``, and a choice between things if ``choices``."""
        asked = [
            each
            for each in parsed.sentences
            if "confirms" in each or (offers and each.is_offer) or (choices and each.is_choice)
        ]
        if not asked:
            return []
        self._memory.note("decided", parsed.text)
        answers = list(dict.fromkeys(self._decisions.answer(each, parsed) for each in asked))
        # Several questions get one yes only if all are answered by yes.
        polar = [answer for answer in (NO, YES) if answer in answers][:1]
        if offers and polar and any(each.is_which for each in asked):  # no fact was given
            self._outcome = "yes or no to which"
        if polar == [NO] and is_too_dear(parsed.text):
            return [*polar, *self._memory.fall_back()]
        chosen = [answer for answer in answers if answer not in ("", YES, NO)]
        return [*polar, *chosen] or self._describe()

    # Texts that ask for nothing

    def _answer_statement(self, parsed: ParsedText) -> Generator[ToolCall, ToolMessage, list[str]]:
        """Answer refusals, news, goodbyes, and texts that are not understood."""
        memory = self._memory
        if parsed.refuses:
            return (yield from self._answer_refusal(parsed))
        if parsed.announcement:  # it has not been done, whatever else the text reports
            return ["All right."]
        # An agent that asks whether there is anything else has finished, even if it also asks another question.
        heard = not parsed.is_open or parsed.any("closes")
        if heard and (parsed.any("news", "parts", "works") or memory.is_answered(parsed)):
            return (yield from self._finish_request())
        return self._answer_beginning(parsed) or memory.answers(parsed, again=True) or self._ask_back(parsed)

    def _answer_refusal(self, parsed: ParsedText) -> Generator[ToolCall, ToolMessage, list[str]]:
        if any(map(identifies, self._asked(parsed))) and (instead := self._instead(parsed)):
            return instead  # it was not found
        again = self._memory.refused()
        return [again] if again else (yield from self._finish_request())

    def _answer_beginning(self, parsed: ParsedText) -> list[str]:
        """Answer an agent that has not understood the user, asks what it can do, or has only begun."""
        if parsed.any("repeats") and self.understandings:
            return [self.understandings[-1].said]
        if parsed.any("greets"):
            return [self._memory.put_request()]
        return ["All right."] if parsed.any("waits") and not parsed.is_open else []

    def _ask_back(self, parsed: ParsedText) -> list[str]:
        """Answer a question that the script has no answer to by what the user knows instead, or say that it is lost."""
        asked, memory = self._asked(parsed), self._memory
        missing = [each for each in asked if identifies(each)]
        if missing:
            instead = self._instead(parsed)
            return [*_unknown(missing), *(instead or self._describe(*missing))]
        if asked or any(each.is_which for each in parsed.sentences):
            things = [] if asked or not any(each.chooses for each in parsed.sentences) else self._volunteer_things()
            return [
                *things,
                *(self._instead(parsed) if parsed.looks_up and not things else []),
                *self._describe(*asked),
            ]
        if not parsed.is_open and memory.concerns(parsed.words):
            return [memory.hear(agrees=restates_wish(parsed.text))]
        if any(each.is_polar for each in parsed.sentences):
            return ["I do not know.", *self._instead(parsed), memory.put_request()]
        self._outcome = "not understood"
        return ["I am not sure what you mean.", *self._instead(parsed, named_first=False), memory.put_request()]

    def _describe(self, *asked: str) -> list[str]:
        """Answer by the request; if it has answered this before, say that the user does not know more."""
        if self._memory.is_described(*asked):
            said = [] if any(map(identifies, asked)) else _unknown(list(asked)) or ["I am not sure."]
            return [*said, "Could you look at each of them?"]
        return [self._memory.put_request()]

    def _instead(self, parsed: ParsedText, *, named_first: bool = True) -> list[str]:
        """Return facts not given yet: those that the agent has named as an alternative, or that identify the user."""
        known = self._memory.facts
        named = {same_fact(each, known) for each in self._facts_in(parsed.words)}
        offered = self._memory.volunteer(each for each in known if each in named and identifies(each) and named_first)
        return self._manner.facts(offered) if offered else self._volunteer(known)

    def _volunteer_things(self) -> list[str]:
        """Return facts by which what the user speaks of is found."""
        return self._volunteer(each for each in self._memory.facts if not identifies_user(each))

    def _volunteer(self, names: Iterable[str]) -> list[str]:
        """Return facts by which the user or what it is about is found, but none that it keeps back or has given."""
        may = [each for each in names if identifies(each) and each not in self._withheld]
        said = self._memory.volunteer(may)
        return self._manner.facts(said) if said else []

    def _finish_request(self) -> Generator[ToolCall, ToolMessage, list[str]]:
        """Go to the next request or say goodbye; but first check the goals of the last request."""
        memory = self._memory
        if memory.is_last and not memory.gave_in:
            for goal in self._script.goals:
                unmet = yield from self._check(goal)
                if unmet:
                    return [f"It is not solved yet. {unmet}"]
        following = memory.next_request()
        return [following or f"Thank you, that was all. {STOP}"]

    def _check(self, goal: Goal) -> Acting:
        """Call a goal's tool; return a sentence about its result if the goal is not met, else nothing."""
        result = yield _call(goal.tool, goal.arguments)
        shown = result.content or ""
        said = describe_call(goal.tool, shown, error=result.error)
        self._memory.note("did", goal.tool, said)
        return "" if all(expected.lower() in shown.lower() for expected in goal.expects) else said


def _has_begun(past: Sequence[Message]) -> bool:
    """Return whether the user has said something since the end of an earlier conversation, if there was one."""
    said = [message for message in past if isinstance(message, UserMessage) and message.text]
    return bool(said) and said[-1].stop_token is None


def _asks_to_act(parsed: ParsedText) -> bool:
    """Return whether a text asks for a yes to what the agent will do then."""
    return any("confirms" in each and "which" not in each and asks_to_proceed(each.text) for each in parsed.sentences)


def _unknown(names: list[str]) -> list[str]:
    """Return the sentence that the user does not know facts; none for no names."""
    return [f"I do not know the {' and the '.join(names).replace('_', ' ')}."] if names else []


def _call(tool: str, arguments: dict[str, object]) -> ToolCall:
    return ToolCall(name=tool, arguments=dict(arguments), requestor="user")


def _result(message: Incoming) -> ToolMessage:
    results: Iterator[ToolMessage] = iter(message.tool_messages if isinstance(message, MultiToolMessage) else ())
    return message if isinstance(message, ToolMessage) else next(results)
