"""What can be a tool of a domain over functions: its name, its parameters, and how it is called."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

from pydantic import PydanticUserError, validate_call

from ...errors import ConfigurationError, hides_frames
from ...text import shorten
from ..toolkit import GENERATOR, Toolkit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: pytest omits the frames of this module from the traceback of a wrong declaration.
__tracebackhide__ = hides_frames

#: Characters of an object that are shown because it is not a function.
_LONGEST = 100
#: Attributes by which tools of frameworks have their function.
FUNCTION_IN = ("func", "coroutine", "function", "fn", "forward")
#: Annotations of parameters that cannot be the object of a domain.
_SCALARS = (str, int, float, bool, "str", "int", "float", "bool")


def check_tool_name(domain: str, name: str) -> None:
    """Refuse a tool whose name the base class of toolkits uses itself.

    Raises:
        ConfigurationError: It does.
    """
    if name.startswith(("_", "<")) or name == "db" or hasattr(Toolkit, name):
        raise ConfigurationError(f"domain {domain!r}: a tool cannot be called {name!r}: give it another name")


def has_own_schema(function: Callable[..., Any]) -> bool:
    """Return whether a function has a schema, and takes any arguments under any names, also such as ``self``."""
    return "tau_parameters" in getattr(function, "__dict__", {})


def by_name(
    domain: str, functions: Sequence[Callable[..., Any]], make: Callable[[], Any] | None
) -> dict[str, Callable[..., Any]]:
    """Return functions by their names; with ``make``, each takes the object as its first argument.

    Raises:
        ConfigurationError: Something has no name or cannot be called, two have the same name, or one is an asynchronous
            generator or cannot take the object.
    """
    named: dict[str, Callable[..., Any]] = {}
    for given in functions:
        if not callable(given) or not hasattr(given, "__name__"):
            shown, advice = shorten(repr(given), _LONGEST), _where_function(given)
            raise ConfigurationError(f"domain {domain!r}: tools: expected functions, got {shown}{advice}")
        name = given.__name__
        if not has_own_schema(given):
            check_tool_name(domain, name)
        if inspect.isasyncgenfunction(given):
            raise ConfigurationError(f"tool {given.__qualname__} {GENERATOR}")
        if name in named:
            raise ConfigurationError(f"domain {domain!r}: two tools are called {name!r}")
        function = _as_function(given)
        named[name] = function if make is None else _taking_object(function, make)
    return named


def _where_function(given: object) -> str:
    """Return where the function is that a framework has made a tool of, after a colon; empty if that is not known."""
    if isinstance(given, functools.partial):
        return ": give it a __name__"
    within = next((each for each in FUNCTION_IN if inspect.isroutine(getattr(given, each, None))), None)
    return "" if within is None else f": give its function, the attribute {within!r}"


def _as_function(given: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls a ``partial`` or another object, without the arguments that are bound."""
    if isinstance(given, functools.partial):
        plain = _plain_partial(given)
        signature, document = inspect.signature(plain), vars(given).get("__doc__") or plain.func.__doc__
        shown = [each for each in signature.parameters.values() if each.name not in plain.keywords]
        return _calling(given, plain.func, signature.replace(parameters=shown), document)
    if hasattr(given, "__qualname__"):
        return given
    of = type(given).__call__
    return _calling(given, of, inspect.signature(given), given.__doc__ or of.__doc__)


def _plain_partial(given: functools.partial[Any]) -> functools.partial[Any]:
    """Return one ``partial`` of a function, without a name, by which ``inspect`` would miss what is bound."""
    of: Any = given.func
    args, keywords = given.args, given.keywords
    while isinstance(of, functools.partial):
        of, args, keywords = of.func, (*of.args, *args), {**of.keywords, **keywords}
    return functools.partial(of, *args, **keywords)


def _calling(
    given: Callable[..., Any],
    of: Callable[..., Any],
    signature: inspect.Signature,
    document: str | None,
) -> Callable[..., Any]:
    @functools.wraps(of, updated=())
    def function(*args: Any, **arguments: Any) -> Any:
        return given(*args, **arguments)

    function.__name__ = function.__qualname__ = given.__name__
    function.__doc__ = document
    vars(function)["__signature__"] = signature
    return function


def _taking_object(function: Callable[..., Any], make: Callable[[], Any]) -> Callable[..., Any]:
    """Return a function that takes the object first, which a static method or a class method does not need.

    Raises:
        ConfigurationError: The function cannot take it.
    """
    name = function.__qualname__
    if inspect.ismethod(function) and not isinstance(function.__self__, type):
        problem = f"it is bound to one {type(function.__self__).__qualname__}, which all simulations would share"
        raise ConfigurationError(f"tool {name}: {problem}: name the function of the class")
    if inspect.ismethod(function) or _is_static(function, make):
        return _without_object(function)
    first = next(iter(inspect.signature(function).parameters.values()), None)
    if first is None or first.kind in (first.KEYWORD_ONLY, first.VAR_KEYWORD) or first.annotation in _SCALARS:
        found = "it has no parameter" if first is None else f"its first parameter is {first}"
        raise ConfigurationError(
            f"tool {name}: {found}, but the first argument of every tool is the object of make=: add a parameter for it"
        )
    return function


def _is_static(function: Callable[..., Any], make: Callable[[], Any]) -> bool:
    """Return whether a function is a static method of the object's class that does not take the object."""
    if not isinstance(make, type):
        return False
    member = inspect.getattr_static(make, function.__name__, None)
    if not isinstance(member, staticmethod) or member.__func__ is not function:
        return False
    first = next(iter(inspect.signature(function).parameters.values()), None)
    of_object = [inspect.Parameter.empty, *make.__mro__, *(each.__name__ for each in make.__mro__)]
    return first is None or first.annotation not in of_object


def _without_object(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(_target: Any, /, *args: Any, **arguments: Any) -> Any:
        return function(*args, **arguments)

    target = inspect.Parameter("_target", inspect.Parameter.POSITIONAL_ONLY)
    signature = inspect.signature(function)
    of = function.__func__ if inspect.ismethod(function) else function
    wrapper = functools.wraps(of)(call)
    vars(wrapper)["__signature__"] = signature.replace(parameters=[target, *signature.parameters.values()])
    return wrapper


def converting(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that converts its arguments to the annotated types.

    Raises:
        ConfigurationError: The annotations cannot be used.
    """
    try:
        return validate_call(config={"arbitrary_types_allowed": True})(function)
    except (PydanticUserError, NameError) as error:
        raise ConfigurationError(f"tool {function.__qualname__}: {str(error).splitlines()[0]}") from None
