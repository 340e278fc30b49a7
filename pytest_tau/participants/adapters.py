"""Adapters that make a participant of each of the four forms of an agent or a user."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import operator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..actors import declared_actors
from ..errors import ConfigurationError, MissingModelError
from ..models import AssistantMessage, MultiToolMessage, UserMessage, clone
from .base import Adapter, BuiltIn
from .chat_format import chat_messages, visible_to
from .containment import building
from .own_loop.agent import OwnLoopAgent
from .own_loop.form import check_factory, check_trial, is_own_loop, is_run, takes_trial
from .task_views import own_copy
from .threads import BlockingCaller

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..environment.functions.patching import Patches
    from .context import Incoming, Participant, ParticipantContext, Reply


async def adapt(target: Any, context: ParticipantContext, caller: BlockingCaller | None = None) -> Participant:
    """Make a participant of any of the accepted forms.

    Args:
        target: A class or an instance with ``respond``, a class or an instance with ``generate_next_message``, a
            ``functools.partial`` of such a class, a function of ``(messages, tools)``, a factory (a function that
            returns one of them and whose parameters are those of a constructor), or a factory that is marked with
            ``own_loop``.
        context: The facts that it is built from.
        caller: Calls its code, if some of it was called before; all of it runs in one thread.

    Raises:
        ConfigurationError: It has none of these forms, or its constructor asks for something unknown.
        Exception: Anything that its constructor raises.
    """
    built = built_class(target)
    if not (built and issubclass(built, BuiltIn)):
        check_form(target, context.side)
    form = built or target
    greeting = getattr(form, "greeting", None)
    if isinstance(greeting, str) and context.history and not context.continues:
        context = replace(context, history=[AssistantMessage(content=greeting)])
    if isinstance(target, BuiltIn):
        return target
    if built and issubclass(built, BuiltIn):
        participant: Participant = target(context)
        return participant
    check_tools(target, context.side, context.patches)
    with building():
        return await _adapt_foreign(target, context, caller or BlockingCaller(context.models, context.side))


async def _adapt_foreign(target: Any, context: ParticipantContext, caller: BlockingCaller) -> Participant:
    if is_own_loop(built_class(target) or target) or _is_run(target, context.side):
        return await OwnLoopAgent.make(target, context, caller)
    if context.patches is None:
        return await _adapt_other(target, context, caller)
    given = replace(context, patches=None)
    return await OwnLoopAgent.around(lambda: _adapt_other(target, given, caller), context, caller)


async def _adapt_other(target: Any, context: ParticipantContext, caller: BlockingCaller) -> Participant:
    built = built_class(target)
    form = built or target
    if hasattr(form, "generate_next_message"):
        return await StatefulAdapter.make(target, context, caller)
    if hasattr(form, "respond"):
        if built:
            target = await caller.call(target, **_arguments(target, context))
        return RespondAdapter(target, context, caller)
    if is_factory(target, context.side):
        return await _adapt_made(target, context, caller)
    return FunctionAdapter(target, context, caller)


async def _adapt_made(factory: Any, context: ParticipantContext, caller: BlockingCaller) -> Participant:
    made = await caller.call(factory, **_arguments(factory, context))
    if made is None or is_factory(made, context.side):
        got = "nothing" if made is None else f"the factory {_name_of(made)}"
        raise ConfigurationError(
            f"{_name_of(factory)} is taken for a factory by its parameters ({_names_of(factory)}) and returned "
            f"{got}; expected an object with respond(message), or a function (messages, tools)"
        )
    return await adapt(made, context, caller)


def check_form(target: Any, side: str) -> None:
    """Refuse a target that cannot be a participant, before anything runs.

    Raises:
        ConfigurationError: It has none of the four forms, or asks for something unknown.
    """
    built = built_class(target)
    form = built or target
    declared_actors(target)
    if is_own_loop(form):
        check_factory(target, _name_of(target), side)
        return
    if hasattr(form, "respond") or hasattr(form, "generate_next_message"):
        if built and not issubclass(built, BuiltIn):
            _check_constructor(target, side)
        if not hasattr(form, "generate_next_message"):
            _check_respond(target, form, side)
        return
    if built or not callable(target):
        function = "a function (messages, tools)"
        others = f"{function}, or a factory marked with pytest_tau.own_loop" if side == "agent" else f"or {function}"
        raise ConfigurationError(
            f"{_name_of(target)} is not a valid {side}: "
            f"expected a class with respond(message), a class with get_init_state and generate_next_message, {others}"
        )
    if [parameter.name for parameter in _parameters(target)][:2] == ["tools", "messages"]:
        problem = "its parameters are in the wrong order: expected (messages, tools), got (tools, messages)"
        raise ConfigurationError(f"{_name_of(target)} is not a valid {side}: {problem}")
    if is_factory(target, side):
        _check_constructor(target, side)
    elif not _accepts_two(target) and not _is_run(target, side):
        raise ConfigurationError(_not_valid(target, side))


def _is_run(target: Any, side: str) -> bool:
    """Return whether a target is a function of the user's text, or of the conversation, that calls its tools itself."""
    others = any(hasattr(target, name) for name in ("respond", "generate_next_message", "run"))
    if side != "agent" or built_class(target) or others:
        return False
    return is_run(target) and not is_factory(target, side) and not _takes_tools(target)


def _takes_tools(target: Any) -> bool:
    parameters = _parameters(target)
    return any(each.name == "tools" or each.kind is each.VAR_POSITIONAL for each in parameters[1:])


def check_tools(target: Any, side: str, patches: Patches | None) -> None:
    """Replace an agent's own tools; refuse one that calls its own tools in a domain that does not say where they are.

    Raises:
        ConfigurationError: A tool cannot be replaced, or the agent could not make a call.
    """
    if patches is not None:
        patches.replace()
    elif _is_run(target, side):
        raise ConfigurationError(_not_valid(target, side))
    elif is_own_loop(built_class(target) or target) and not takes_trial(target):
        check_trial(target, _name_of(target))


def _not_valid(target: Any, side: str) -> str:
    other = "; a factory (trial) needs the mark pytest_tau.own_loop; an agent that calls its own tools needs patch= of "
    accepted = f"(messages, tools){f'{other}the domain' if side == 'agent' else ''}"
    return f"{_name_of(target)} is not a valid {side}: it must accept {accepted}"


def is_factory(target: Any, side: str) -> bool:
    """Return whether a target is a function that makes a participant, by the names of its parameters.

    The first one is named like an argument of a constructor, and none is named ``messages``. A function of
    ``(history)`` or ``(history, tools)`` answers, as one of ``(messages)`` or ``(messages, tools)`` does.
    """
    if built_class(target) or hasattr(target, "respond") or hasattr(target, "generate_next_message"):
        return False
    names = [parameter.name for parameter in _parameters(target)]
    answers = "messages" in names or names == ["history"] or (names[:1] == ["history"] and _accepts_two(target))
    return callable(target) and not answers and bool(names) and names[0] in _OFFERED[side]


def _accepts_two(target: Callable[..., Any]) -> bool:
    """Return whether a function can be called with the conversation and the tools."""
    try:
        inspect.signature(target).bind([], [])
    except TypeError:
        return False
    return True


def built_class(target: Any) -> type | None:
    """Return the class of which a target builds an instance per simulation: itself, or that of a partial."""
    while isinstance(target, functools.partial):
        target = target.func
    return target if isinstance(target, type) else None


def name_of(target: Any) -> str | None:
    """Return the name of a function, of a class, or of the class of a partial; None of an instance."""
    name = getattr(built_class(target) or target, "__qualname__", None)
    return name if isinstance(name, str) else None


class RespondAdapter(Adapter):
    """The first form: an object with ``respond(message)``."""

    def keep_streams(self) -> None:
        """From now on, keep a reply that is a stream."""
        self._keeps_streams = True

    async def respond(self, message: Incoming) -> Reply:
        """Return the object's reply as a message."""
        return await self._message(await self._caller.call(self._target.respond, message))


class FunctionAdapter(Adapter):
    """The second form: a function of the conversation and the tools, both in OpenAI chat format."""

    def __init__(self, target: Any, context: ParticipantContext, caller: BlockingCaller) -> None:
        super().__init__(target, context, caller)
        self._tools = [tool.openai_schema for tool in context.tools]
        self._messages = [{"role": "system", "content": context.instructions}]
        for message in context.past:
            self._messages += chat_messages(message, context.side)

    async def respond(self, message: Incoming) -> Reply:
        """Return the function's reply as a message."""
        self._messages += chat_messages(message, self._context.side)
        # A copy: the function may change its arguments.
        arguments = clone((self._messages, self._tools))
        reply = await self._message(await self._caller.call(self._target, *arguments))
        self._messages += chat_messages(reply, self._context.side)
        return reply

    @property
    def _called(self) -> str:
        target = self._target
        while isinstance(target, functools.partial):
            target = target.func
        return name_of(target) or type(target).__qualname__


class StatefulAdapter(Adapter):
    """The third form, of the shape of τ²-bench's agents: ``get_init_state`` and ``generate_next_message``."""

    def __init__(self, target: Any, context: ParticipantContext, caller: BlockingCaller, state: Any) -> None:
        super().__init__(target, context, caller)
        self._state = state

    @classmethod
    async def make(cls, target: Any, context: ParticipantContext, caller: BlockingCaller) -> StatefulAdapter:
        """Build the object, if the target is a class, and its initial state."""
        if built_class(target):
            target = await caller.call(target, **_arguments(target, context))
        set_seed = getattr(target, "set_seed", None)
        if callable(set_seed) and context.seed is not None:
            await caller.call(set_seed, context.seed)
        history = [_as_tau2(message) for message in clone(visible_to(context.side, context.past))]
        return cls(target, context, caller, await caller.call(target.get_init_state, history))

    async def respond(self, message: Incoming) -> Reply:
        """Return the object's next message, and keep its state for the next turn."""
        first_alone = self._context.solo and isinstance(message, UserMessage)
        given = None if first_alone else _as_tau2(message)
        reply, self._state = await self._caller.call(self._target.generate_next_message, given, self._state)
        return await self._message(reply)

    @property
    def _called(self) -> str:
        return "generate_next_message"


#: What a constructor can ask for, each made when it is asked for: an object of the participant's own.
_MAKERS: dict[str, Callable[[ParticipantContext], Any]] = {
    "tools": lambda context: [tool.copy() for tool in context.tools],
    **dict.fromkeys(("policy", "domain_policy", "instructions"), lambda context: context.instructions),
    "task": lambda context: own_copy(context.task),
    **{name: operator.attrgetter(name) for name in ("seed", "model", "llm", "llm_args")},
    "history": lambda context: clone(visible_to(context.side, context.past)),
}
#: Parameters that a constructor may have, by side.
_OFFERED = {
    "agent": [name for name in _MAKERS if name != "instructions"],
    "user": [name for name in _MAKERS if name not in ("policy", "domain_policy")],
}


def takes_model(target: Any) -> bool:
    """Return whether a participant that is not built in can be given the model of its side."""
    return is_own_loop(built_class(target) or target) or _asks_for(target, "model", "llm", "llm_args")


def takes_history(target: Any, participant: Participant) -> bool:
    """Return whether a participant that was created in the middle of a conversation got the messages before.

    Args:
        target: What it was made of; None for an agent of the domain.
        participant: The participant.
    """
    if not isinstance(participant, RespondAdapter):
        return True
    return _asks_for(type(participant.target) if target is None else target, "history")


def _asks_for(target: Any, *names: str) -> bool:
    """Return whether a class or a factory has one of these parameters, or takes any."""
    if not (built_class(target) or is_factory(target, "agent") or is_factory(target, "user")):
        return False
    parameters = _parameters(target)
    named = any(parameter.name in names for parameter in parameters)
    return named or any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)


def _parameters(target: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(target).parameters.values())
    except (TypeError, ValueError):  # some built-in classes have no signature
        return []


def _names_of(target: Callable[..., Any]) -> str:
    return ", ".join(parameter.name for parameter in _parameters(target))


def _check_respond(target: Any, form: Any, side: str) -> None:
    """Refuse a method ``respond`` that cannot be called with the message alone."""
    unbound = built_class(target) is not None and inspect.isfunction(inspect.getattr_static(form, "respond", None))
    if not callable(form.respond):  # a property of a class, or a mistake that the first call shows
        return
    try:
        # Not that of a function which a decorator has wrapped: the decorator may fill its parameters.
        signature = inspect.signature(form.respond, follow_wrapped=False)
    except (TypeError, ValueError):  # some built-in callables have no signature
        return
    try:
        signature.bind(*([None, None] if unbound else [None]))
    except TypeError as error:
        raise ConfigurationError(
            f"{_name_of(target)} is not a valid {side}: respond is called with one argument, the message, but has the "
            f"signature respond{signature} ({error}); a constructor can take {', '.join(_OFFERED[side])}"
        ) from None


def _check_constructor(target: Any, side: str) -> None:
    for parameter in _parameters(target):
        variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if not variadic and parameter.default is parameter.empty and parameter.name not in _OFFERED[side]:
            cannot = "cannot be created: its constructor needs" if built_class(target) else "cannot be called: it needs"
            raise ConfigurationError(
                f"{_name_of(target)} {cannot} {parameter.name!r}; "
                f"{'an' if side == 'agent' else 'a'} {side} can take {', '.join(_OFFERED[side])}"
            )


def needs_model(target: Any) -> bool:
    """Return whether a participant cannot be made without the model of its side: its parameter has no default."""
    made = built_class(target) or is_factory(target, "agent") or is_factory(target, "user")
    bound = target.keywords if isinstance(target, functools.partial) else {}
    given = [each for each in _parameters(target) if each.name == "model" and each.name not in bound] if made else []
    return any(each.default is each.empty for each in given)


def lacks_model(side: str, name: str) -> str:
    """Return the error of a participant that needs a model in a run without one."""
    return f"{side} {name} needs a model, by its parameter 'model': add --tau-{side}-llm MODEL"


def _arguments(target: Any, context: ParticipantContext) -> dict[str, Any]:
    if context.model is None and needs_model(target):
        raise MissingModelError(lacks_model(context.side, _name_of(target)))
    bound = target.keywords if isinstance(target, functools.partial) else {}
    parameters = _parameters(target)
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    asked = _OFFERED[context.side] if takes_any else [parameter.name for parameter in parameters]
    return {name: _MAKERS[name](context) for name in asked if name in _OFFERED[context.side] and name not in bound}


def _as_tau2(message: Any) -> Any:
    """Return the message in τ²-bench's own class if that package is installed, else as it is."""
    if importlib.util.find_spec("tau2") is None:
        return message
    from tau2.data_model import message as theirs

    if isinstance(message, MultiToolMessage):
        results = [_as_tau2(result) for result in message.tool_messages]
        return theirs.MultiToolMessage(role="tool", tool_messages=results)
    fields = message.model_dump(exclude_none=True, exclude={"actor"})
    for call in fields.get("tool_calls") or []:
        call.pop("malformed", None)
    return getattr(theirs, type(message).__name__)(**fields)


def _name_of(target: Any) -> str:
    return name_of(target) or repr(target)
