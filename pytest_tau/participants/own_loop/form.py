"""The form of an agent that runs its own loop: a factory of one argument, the trial."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, TypeVar, overload

from ...actors import DECLARED, declared_actors
from ...errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

F = TypeVar("F")

#: The attribute that marks a factory.
_MARK = "tau_own_loop"


@overload
def own_loop(factory: F) -> F: ...
@overload
def own_loop(*, actors: Sequence[str]) -> Callable[[F], F]: ...
def own_loop(factory: Any = None, *, actors: Sequence[str] = ()) -> Any:
    """Mark the factory of an agent whose framework runs the loop of model and tool calls.

    The factory is called once for each simulation, with an ``AgentTrial``. It returns ``run``, a function of the user's
    text that returns the agent's text, or an object with such a method; the factory and ``run`` may be ``async``. A
    class with a method ``run`` is a factory, too, and needs no mark.

    Args:
        factory: A function or a class that takes the trial as its only argument; without it, a decorator is returned.
        actors: The actors that the agent consists of: any other that speaks is an error of the agent.

    Returns:
        The same object.

    Raises:
        ConfigurationError: It cannot be called, or cannot be marked.
    """
    if factory is None:
        return functools.partial(own_loop, actors=actors)
    if not callable(factory):
        kind = f"a {type(factory).__name__}"
        raise ConfigurationError(f"own_loop marks a function or a class that takes the trial, got {kind}")
    try:
        setattr(factory, _MARK, True)
        if actors:
            setattr(factory, DECLARED, actors)
    except (AttributeError, TypeError):
        problem = f"own_loop cannot mark a {type(factory).__name__}: use it on a function or a class of your own"
        raise ConfigurationError(problem) from None
    declared_actors(factory)
    return factory


def is_own_loop(form: Any) -> bool:
    """Return whether an object is such a factory: it is marked, or it has ``run`` and no method of another form."""
    while isinstance(form, functools.partial):
        form = form.func
    # Statically: a lookup may run code of the participant.
    if inspect.getattr_static(form, _MARK, False) is True:
        return True
    others = hasattr(form, "respond") or hasattr(form, "generate_next_message")
    return not others and callable(getattr(form, "run", None))


def check_factory(target: Any, name: str, side: str) -> None:
    """Refuse a factory that cannot be called with a trial.

    Args:
        target: The factory: a function, a class, or a ``functools.partial`` of them; or an object with ``run``.
        name: Its name.
        side: The side that it is to play.

    Raises:
        ConfigurationError: It cannot.
    """
    if side != "agent":
        raise ConfigurationError(f"{name} is not a valid {side}: only an agent can run its own loop")
    if is_factory(target) and takes_trial(target):
        check_trial(target, name)


def check_trial(target: Any, name: str) -> None:
    """Refuse a factory that cannot be called with a trial.

    Raises:
        ConfigurationError: It cannot.
    """
    try:
        inspect.signature(target).bind(None)
    except TypeError:
        problem = "it must accept one argument, the trial, as in 'def Agent(trial):'"
        has_run = inspect.isclass(target) and callable(getattr(target, "run", None))
        advice = "if it calls its own tools, name their places in patch= of the domain"
        other = f"; if its method run answers a message, name the method respond; {advice}" if has_run else ""
        raise ConfigurationError(f"{name} is not a valid agent: {problem}{other}") from None
    except ValueError:  # some built-in callables have no signature
        return


def takes_trial(target: Any) -> bool:
    """Return whether a factory is called with the trial: a class of one's own may have no parameter for it."""
    if not inspect.isclass(target) or inspect.getattr_static(target, _MARK, False) is True:
        return True
    parameters = _positional(target)
    return any(parameter.default is parameter.empty for parameter in parameters) or [
        each.name for each in parameters[:1]
    ] == ["trial"]


def is_run(target: Any) -> bool:
    """Return whether an object is itself a function ``run``, of the user's text or of the conversation."""
    if inspect.isclass(target) or not callable(target):
        return False
    parameters = _positional(target)
    needed = [parameter for parameter in parameters if parameter.default is parameter.empty]
    return (
        [parameter.name for parameter in needed] not in (["trial"], [])
        and len(needed) == 1
        and parameters[0] is needed[0]
    )


def takes_messages(run: Any) -> bool:
    """Return whether a function ``run`` takes the conversation, and not the user's text alone."""
    return [parameter.name for parameter in _positional(run)[:1]] in (["messages"], ["history"], ["conversation"])


def _positional(target: Any) -> list[inspect.Parameter]:
    """Return the parameters that can be given by position; none for an object without a signature."""
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):  # some built-in callables have no signature
        return []
    return [
        parameter
        for parameter in parameters
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]


def is_factory(target: Any) -> bool:
    """Return whether a target of this form is called with the trial; otherwise it is itself the object with ``run``."""
    return inspect.isclass(target) or not callable(getattr(target, "run", None))
