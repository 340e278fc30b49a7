"""The form of an agent that runs its own loop: a factory of one argument, the trial."""

from __future__ import annotations

import functools
import inspect
from typing import Any, TypeVar

from ...errors import ConfigurationError

F = TypeVar("F")

#: The attribute that marks a factory.
_MARK = "tau_own_loop"


def own_loop(factory: F) -> F:
    """Mark the factory of an agent whose framework runs the loop of model and tool calls.

    The factory is called once for each simulation, with an ``AgentTrial``. It returns ``run``, a function of the user's
    text that returns the agent's text, or an object with such a method; the factory and ``run`` may be ``async``. A
    class with a method ``run`` is a factory, too, and needs no mark.

    Args:
        factory: A function or a class that takes the trial as its only argument.

    Returns:
        The same object.

    Raises:
        ConfigurationError: It cannot be called, or cannot be marked.
    """
    if not callable(factory):
        got = f"a {type(factory).__name__}"
        raise ConfigurationError(f"own_loop marks a function or a class that takes the trial, got {got}")
    try:
        setattr(factory, _MARK, True)
    except (AttributeError, TypeError):
        problem = f"own_loop cannot mark a {type(factory).__name__}: use it on a function or a class of your own"
        raise ConfigurationError(problem) from None
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
    if not is_factory(target):
        return
    try:
        inspect.signature(target).bind(None)
    except TypeError:
        problem = "it must accept one argument, the trial, as in 'def Agent(trial):'"
        has_run = inspect.isclass(target) and callable(getattr(target, "run", None))
        other = "; if its method run answers a message, name the method respond" if has_run else ""
        raise ConfigurationError(f"{name} is not a valid agent: {problem}{other}") from None
    except ValueError:  # some built-in callables have no signature
        return


def is_factory(target: Any) -> bool:
    """Return whether a target of this form is called with the trial; otherwise it is itself the object with ``run``."""
    return inspect.isclass(target) or not callable(getattr(target, "run", None))
