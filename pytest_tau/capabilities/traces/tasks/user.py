"""The user of a task, made of what the person of a recorded conversation said: a script, and the same in prose."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ....environment import is_error
from ....language import greets, is_plain_no, is_plain_yes, thanks, without_tokens, words, written_words
from ....models import GREETING, STOP_TOKENS, AssistantMessage, Goal, Instructions, UserScenario, UserScript
from ....participants import ParticipantContext, ScriptedUser, view_of
from .script import ScriptDraft, Turn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from ....environment import Domain
    from ....models import Call, Message, Task

#: Rounds in which what a script says otherwise than the person is corrected.
_ROUNDS = 12
#: A result that says, without being an error, that there is nothing.
_NOTHING = re.compile(r"\s*(?:null|\[\s*\]|\{\s*\}|\{\s*\"error\".*)?\s*", re.DOTALL)


def scenario_of(
    domain: Domain,
    task: Task,
    messages: Sequence[Message],
    calls: Sequence[Call],
    domain_name: str | None = None,
    objected: Collection[int] = (),
) -> UserScenario:
    """Return a user that says what the person said, in the same order of disclosure.

    Args:
        domain: The domain.
        task: The task without a user, for its initial state.
        messages: The conversation, oldest first.
        calls: Its calls with their results.
        domain_name: The name of the domain for the prose; None to omit it.
        objected: The numbers of messages that object to what the recorded agent did, and no other one may hear.
    """
    turns = [turn for turn in _turns(messages) if turn.number not in objected]
    draft = ScriptDraft(_arguments(calls), _failed(calls), tuple(_spoken(domain)))
    for turn in turns:
        draft.hear(turn)
    for call in calls:
        said_before = " ".join(turn.said for turn in turns if turn.number < call.message_idx)
        draft.remember(call, said_before)
    goals = list(_goals(domain, task, messages))
    for noted_value in _noted(domain, messages, calls):
        draft.note(*noted_value)
    script = draft.script(goals)
    for _ in range(_ROUNDS):
        scenario = UserScenario(instructions=_prose(script, domain_name), script=script)
        differing = _differences(domain, task.model_copy(update={"user_scenario": scenario}), messages, turns)
        if not any(draft.correct(*difference) for difference in differing):
            return scenario
        script = draft.script(goals)
    return scenario


def _turns(messages: Sequence[Message]) -> list[Turn]:
    turns, heard = [], ""
    for number, message in enumerate(messages):
        if message.role == "assistant" and message.content and not message.tool_calls:
            heard = message.content
        elif message.role == "user" and message.content and not message.tool_calls:
            before = messages[number - 1] if number else None
            report = before is not None and before.role == "tool" and before.requestor == "user"
            if text := without_tokens(message.content):
                turns.append(Turn(number, heard, text, report))
    return turns


def _arguments(calls: Sequence[Call]) -> dict[str, str]:
    """Return the names of arguments of calls by their values, as texts that a person could say."""
    names_by_value: dict[str, str] = {}
    for call in calls:
        for name, value in call.call.arguments.items():
            long = len(str(value)) > (1 if any(map(str.isdigit, str(value))) else 2)
            if isinstance(value, str | int) and not isinstance(value, bool) and long:
                names_by_value.setdefault(str(value), name)
    return names_by_value


def _failed(calls: Sequence[Call]) -> set[str]:
    """Return values of arguments, as texts, with which no call has found or done anything."""
    failed: set[str] = set()
    worked: set[str] = set()
    for call in calls:
        nothing = call.result is None or is_error(call.result) or _NOTHING.fullmatch(call.result.content or "")
        (failed if nothing else worked).update(map(str, call.call.arguments.values()))
    return failed - worked


def _spoken(domain: Domain) -> Iterator[tuple[str, str]]:
    tools = domain.spec.tool_names
    for name, spoken in domain.spec.spoken.items():
        if name not in tools:
            yield from ((phrase, name) for phrase in spoken.phrases)


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
        new = [word for word in written_words(result.content or "") if word.lower() not in before.lower()]
        if expected := [word for word in new if word.isalpha()] or new[:1]:
            yield Goal(tool=call.name, arguments=call.arguments, expects=list(dict.fromkeys(expected)))


def _differences(
    domain: Domain, task: Task, messages: Sequence[Message], turns: Sequence[Turn]
) -> Iterator[tuple[Turn, str]]:
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
    small = (is_plain_yes, is_plain_no, greets, thanks)
    return [
        text
        for number, text in enumerate(texts)
        if text not in heard
        and not any(is_small(text) for is_small in small)
        and not any(e in text for e in texts[:number])
    ]


def _essence(text: str) -> tuple[str, ...]:
    text = without_tokens(text)
    return ("yes",) if is_plain_yes(text) else ("no",) if is_plain_no(text) else words(text)


def scripted_replies(domain: Domain, task: Task, messages: Sequence[Message]) -> dict[int, str]:
    """Return what the scripted user of a task says in a recorded conversation, by the number of the person's message.

    The recorded calls of the agent are made, those of the person are not: the scripted user makes its own.
    """
    environment = domain.environment(task)
    context = ParticipantContext(
        "user", environment.tools("user"), "", view_of(task, "user"), seed=0, spoken=domain.spec.spoken
    )
    user, replies, pending = ScriptedUser(context), dict[int, str](), ""
    if messages and messages[0].role == "user":
        pending = user.respond_at_once(AssistantMessage(content=GREETING)).text
    for number, message in enumerate(messages):
        if message.role == "assistant":
            for call in message.tool_calls or ():
                environment.call(call.name, call.arguments, call.requestor)
            if message.content and not message.tool_calls:
                reply = user.respond_at_once(message)
                while reply.tool_calls:
                    reply = user.respond_at_once(environment.answer(reply.tool_calls[0]))
                pending = reply.text
        elif message.role == "user" and message.content and not message.tool_calls and pending:
            replies[number], pending = pending, ""
            if any(token in replies[number] for token in STOP_TOKENS):
                break
    return replies


def _noted(domain: Domain, messages: Sequence[Message], calls: Sequence[Call]) -> Iterator[tuple[int, str, str]]:
    """Yield what the agent has put into its own words: arguments of successful writes that nothing before has had."""
    environment = domain.environment()
    for call in calls:
        known = (m for n, m in enumerate(messages) if m.role == "user" or (m.role == "tool" and n < call.message_idx))
        known_text = " ".join(m.content or "" for m in known).lower()
        failed = call.result is None or is_error(call.result)
        if environment.mutates(call.call.name, "assistant") and not failed:
            for name, value in call.call.arguments.items():
                if isinstance(value, str) and value and value.lower() not in known_text:
                    yield call.message_idx, name, value


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
        steps += [f"Asked about {' '.join(answer.asks)}, say: {answer.say!r}" for answer in request.answers]
    steps += [f"Accept an offer of this kind: {offer}." for offer in script.accepts]
    steps += [f"Decline an offer of this kind: {offer}." for offer in script.declines]
    steps += [f"Before you are content, check {goal.tool} for {', '.join(goal.expects)}." for goal in script.goals]
    return Instructions(
        domain=domain_name,
        reason_for_call=first.say,
        known_info="\n".join(dict.fromkeys(known)) or None,
        task_instructions="\n".join(steps),
    )
