"""The rules of a policy that some conversation of a task can break.

Tried are conversations in which the agent does what is wrong with the calls of the reference: it makes the writes
without a word and without reading, makes all calls at once, says that something is done which is not, transfers and
talks on, writes to a record of another task, makes other writes to the records of the task, and changes one argument.
A rule that none of these breaks may still be broken in another way.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from ...documents import json_or_none
from ...language import ids_in
from ...models import AssistantMessage, ToolCall, UserMessage, clone, strings_in
from ...policy import check_policy
from ...references import choices_in, stated_rules, tools_of
from .exercised import Made

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ...environment import Domain
    from ...models import Action, Message, Task, ToolMessage
    from ...policy import Rule

#: Wrong calls that are tried in a task, and values of each field of its records.
_MOST_CALLS, _MOST_RECORDS = 60, 4
#: What a text may name: words with a digit. They are looked up in so many rounds, at most so many in each.
_SHORTEST_ID, _ROUNDS, _MOST_IDS = 2, 2, 8
#: A list is made so much longer.
_MORE = 5
_TRANSFER = "transfer"

#: By domain, a call of each write that a reference makes.
_SAMPLES: weakref.WeakKeyDictionary[Domain, dict[str, Mapping[str, Any]]] = weakref.WeakKeyDictionary()


def breachable(task: Task, domain: Domain, rules: Iterable[Rule] | None = None) -> frozenset[str]:
    """Return the names of the rules that a conversation of a task can break, as far as it is known.

    Args:
        task: The task.
        domain: Its domain.
        rules: The rules to try; those of the domain for None.

    Raises:
        TauError: The rules cannot be loaded, or the initial state cannot be applied.
    """
    left = list(stated_rules(domain) if rules is None else rules)
    known = len(left)
    found: set[str] = set()
    if not left or not domain.spec.agent_db.cheap_to_fork:
        return frozenset()
    for conversation in _wrong(task, domain):
        report = check_policy(conversation, task, domain, rules=left)
        found |= {*report.counts} if report else set()
        left = [rule for rule in left if rule.name not in found]
        if not left or len(found) == known:
            break
    return frozenset(found)


def _wrong(task: Task, domain: Domain) -> Iterator[list[Message]]:
    """Yield conversations in which the agent does something wrong."""
    actions = task.criteria.actions or []
    tools = tools_of(domain, "assistant")
    writes = [each for each in actions if (tool := tools.get(each.name)) and tool.mutates]
    reads = [each for each in actions if each.requestor == "assistant" and each not in writes]
    yield _without_words(task, domain, writes or actions)
    yield _at_once(task, domain, actions)
    yield _only_said(task, domain, reads)
    handing_over = next((name for name in tools if _TRANSFER in name), None)
    if handing_over is not None:
        yield _talks_on(task, domain, handing_over)
    yield _other_calls(task, domain, actions)


class _Conversation:
    """A conversation that is made up, in an environment of its own."""

    def __init__(self, task: Task, domain: Domain, opening: str = "") -> None:
        self._environment = domain.environment(task, apart=True)
        opening = opening or "\n".join(strings_in(task.user_scenario.model_dump(mode="json")))
        greeting = AssistantMessage(content="Hello!")
        self.messages: list[Message] = [*task.message_history, greeting, UserMessage(content=opening)]
        self.results: list[str] = []

    def say(self, agent: str, user: str = "") -> None:
        """Let the agent say something, and the user answer."""
        self.messages.append(AssistantMessage(content=agent))
        if user:
            self.messages.append(UserMessage(content=user))

    def call(self, *calls: Made, text: str = "") -> None:
        """Make calls at once; those of the user alone."""
        for side in ("assistant", "user"):
            made = [
                ToolCall(id=f"{len(self.messages)}-{at}", name=name, arguments=clone(dict(given)), requestor=caller)
                for at, (caller, name, given) in enumerate(calls)
                if caller == side
            ]
            if made:
                made_by = AssistantMessage if side == "assistant" else UserMessage
                self.messages.append(made_by(content=text or None, tool_calls=made))
                self.messages += [self._answer(each) for each in made]

    def reads(self, name: str, arguments: Mapping[str, Any]) -> bool:
        """Make a call of the agent if it succeeds; return whether it did."""
        if self._environment.call(name, dict(arguments)).error:
            return False
        self.call(Made("assistant", name, arguments))
        return True

    def _answer(self, call: ToolCall) -> ToolMessage:
        result = self._environment.call(call.name, clone(call.arguments), call.requestor, call.id)
        self.results.append("" if result.error else result.content or "")
        return result

    def end(self) -> list[Message]:
        """Return the messages."""
        self._environment.close()
        return self.messages


def _call_of(action: Action) -> Made:
    return Made(action.requestor, action.name, action.arguments)


def _without_words(task: Task, domain: Domain, actions: Sequence[Action]) -> list[Message]:
    conversation = _Conversation(task, domain, "I need help.")
    for action in actions:
        conversation.call(_call_of(action))
    conversation.say("Is there anything else?")
    return conversation.end()


def _at_once(task: Task, domain: Domain, actions: Sequence[Action]) -> list[Message]:
    conversation = _Conversation(task, domain)
    offered = next(iter(tools_of(domain, "assistant")), "")
    own: list[Made] = [_call_of(each) for each in actions if each.requestor == "assistant"]
    calls = own or [Made("assistant", offered, {})]
    conversation.call(*calls, *calls[:1], text="I do all of it now.")
    return conversation.end()


def _only_said(task: Task, domain: Domain, reads: Sequence[Action]) -> list[Message]:
    conversation = _Conversation(task, domain)
    for action in reads:
        conversation.call(_call_of(action))
    conversation.say("I will change this for you. Shall I go ahead?", "Yes, please.")
    conversation.say("I have changed it for you.")
    return conversation.end()


def _talks_on(task: Task, domain: Domain, tool: str) -> list[Message]:
    conversation = _Conversation(task, domain)
    schema = tools_of(domain, "assistant")[tool].parameters
    arguments = {name: _any(schema, name) for name in schema.get("required", ())}
    conversation.call(Made("assistant", tool, arguments))
    conversation.say("Is there anything else that I can do?")
    return conversation.end()


def _any(schema: Mapping[str, Any], name: str) -> Any:
    values = [each.value for each in choices_in(schema) if each.path == name]
    return values[0] if values else "A question."


def _other_calls(task: Task, domain: Domain, actions: Sequence[Action]) -> list[Message]:
    """Read what the task is about, then make other writes to it, and the reference's writes with other arguments."""
    conversation = _Conversation(task, domain)
    tools = tools_of(domain, "assistant")
    writes = [each for each in actions if each.name in tools and tools[each.name].mutates]
    for action in actions:
        if action not in writes:
            conversation.call(_call_of(action))
    _look_up(conversation, domain, task)
    known = _values_by_name([*(each.arguments for each in actions), *map(json_or_none, conversation.results)])
    wrong = [(each.name, changed) for each in writes for changed in _changed(each, tools[each.name].parameters)]
    wrong += _on_same_records(domain, known)
    for name, arguments in wrong[:_MOST_CALLS]:
        conversation.call(Made("assistant", name, arguments))
    conversation.say("Is there anything else?")
    return conversation.end()


def _look_up(conversation: _Conversation, domain: Domain, task: Task) -> None:
    """Read what the scenario and the reference name, and what that names."""
    readers = [
        (tool.name, tool.parameters["required"][0])
        for tool in tools_of(domain, "assistant").values()
        if tool.kind == "read" and len(tool.parameters.get("required", ())) == 1
    ]
    actions = [each.arguments for each in task.criteria.actions or ()]
    texts, tried = [*strings_in([task.user_scenario.model_dump(mode="json"), actions])], set[str]()
    for _ in range(_ROUNDS):
        fresh = dict.fromkeys(word for text in texts for word in ids_in(text, _SHORTEST_ID) if word not in tried)
        tried.update(fresh)
        before = len(conversation.results)
        for word in [*fresh][:_MOST_IDS]:
            for name, parameter in readers:
                if conversation.reads(name, {parameter: word}):
                    break
        texts = conversation.results[before:]


def _values_by_name(objects: Iterable[Any]) -> dict[str, list[Any]]:
    """Return the values of the fields of objects by name, those that come first."""
    found: dict[str, list[Any]] = {}
    for fields in objects:
        for name, value in fields.items() if isinstance(fields, dict) else ():
            values = found.setdefault(name, [])
            if value not in values and len(values) < _MOST_RECORDS:
                values.append(value)
    return found


def _samples(domain: Domain) -> dict[str, Mapping[str, Any]]:
    """Return, for each write of the agent, the arguments of its first call in a reference; texts for one without."""
    if domain not in _SAMPLES:
        tools = [tool for tool in tools_of(domain, "assistant").values() if tool.mutates]
        calls = [each for task in domain.tasks(split=None) for each in task.criteria.actions or ()]
        given = {tool.name: [each.arguments for each in calls if each.name == tool.name] for tool in tools}
        _SAMPLES[domain] = {
            tool.name: given[tool.name][0]
            if given[tool.name]
            else {name: _any(tool.parameters, name) for name in tool.parameters.get("required", ())}
            for tool in tools
        }
    return _SAMPLES[domain]


def _on_same_records(domain: Domain, known: Mapping[str, list[Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield calls of every write with what is known of a task's records, and one with the records of another task."""
    samples = _samples(domain)
    for tool, given in samples.items():
        mine = {name: known[name] for name in given if name in known}
        fitting = {**given, **{name: values[0] for name, values in mine.items()}}
        if not any(isinstance(value, str) for values in mine.values() for value in values):
            continue
        yield tool, fitting
        for name, values in mine.items():
            yield from ((tool, {**fitting, name: value}) for value in values[1:])
            if given[name] != values[0] and not isinstance(given[name], str):
                yield tool, {**fitting, name: given[name]}
    yield from ((tool, dict(given)) for tool, given in [*samples.items()][:1])


def _changed(action: Action, schema: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the arguments of a call with one of them changed."""
    choices: dict[str, list[Any]] = {}
    for each in choices_in(schema):
        choices.setdefault(each.path, []).append(each.value)
    for name, value in action.arguments.items():
        alike = [other for other in action.arguments.values() if type(other) is type(value) and other != value]
        for other in [*choices.get(name, ()), *_others(value), *(alike if isinstance(value, list) else ())]:
            if other != value:
                yield {**action.arguments, name: other}


def _others(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1, value - 1, value * 10]
    if isinstance(value, list) and value:
        return [value[:-1], value * _MORE]
    return [""] if isinstance(value, str) else []
