"""Calls of the public hooks: a mistake in an implementation is a usage error that names the hook and the file."""

from __future__ import annotations

import inspect
import re
import shlex
import traceback
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ..errors import TauError, unknown_name
from ..text import printable, relative_path, shorten
from . import hookspecs
from .compat import call_watched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..environment import Domain, DomainSpec
    from ..evaluation import Evaluator
    from ..knowledge import IndexFactory
    from ..models import Task
    from ..participants.behaviours import Behaviour


class HookCall(NamedTuple):
    """The call of one implementation of a hook."""

    hook: str
    place: str
    result: Any

    def mistake(self, got: str, expected: str) -> str:
        """Return the text of the error about the result."""
        return f"{self.hook} ({self.place}): got {got}, expected {expected}"

    def raised(self, error: BaseException) -> str:
        """Return the text of the error about an exception, with the last line of the implementation's file."""
        from ..participants.containment import describe

        file = Path(self.place.rpartition(":")[0]).name
        frames = traceback.extract_tb(error.__traceback__)
        own_lines = [frame.lineno for frame in frames if Path(frame.filename).name == file]
        if isinstance(error, TauError):  # which says itself where the mistake is
            return f"{self.hook} ({self.place}){f', line {own_lines[-1]}' if own_lines else ''}: {error}"
        line = f" in line {own_lines[-1]}" if own_lines else ""
        return f"{self.hook} ({self.place}) raised {describe(error)}{line}"


def call_each(
    config: pytest.Config, hook: Any, /, checked: Callable[[HookCall], None] | None = None, **arguments: Any
) -> list[HookCall]:
    """Call a hook once, and return what its implementations have returned, in the order of their calls.

    A result that a hook wrapper has put there is the wrapper's.

    Args:
        config: pytest's configuration.
        hook: The hook, of the configuration or of an item.
        checked: Called with each implementation's call as soon as it has returned.
        arguments: Its arguments.

    Raises:
        pytest.UsageError: An implementation raised an exception, unless the hook is that of an item.
    """
    calls: list[HookCall] = []
    raised: list[tuple[BaseException, Any]] = []

    def called(one: Any, result: Any) -> HookCall:
        return HookCall(hook.name, _place(Path(config.invocation_params.dir), one.function), result)

    def watch(one: Any, function: Callable[..., Any]) -> Callable[..., Any]:
        place = called(one, None)

        def watched(*values: Any) -> Any:
            try:
                result = function(*values)
            except BaseException as error:
                raised.append((error, place))
                raise
            calls.append(place._replace(result=result))
            if checked is not None:
                checked(calls[-1])
            return result

        return watched

    try:
        returned = call_watched(hook, arguments, watch)
    except (Exception, pytest.skip.Exception, pytest.fail.Exception) as error:
        if "item" in arguments or isinstance(error, pytest.UsageError):
            raise  # of an item, pytest reports the exception as that of the test
        culprits = [place for other, place in raised if other is error]
        culprits += [called(wrapper, None) for wrapper in _wrappers(hook) if _runs_in(wrapper, error)]
        raise pytest.UsageError((culprits or [HookCall(hook.name, "pluggy", None)])[0].raised(error)) from error
    results = returned if isinstance(returned, list) and not hook.spec.opts["firstresult"] else [returned]
    return _attributed(calls, results, [called(wrapper, None) for wrapper in _wrappers(hook)])


def _attributed(calls: list[HookCall], results: list[Any], wrappers: list[HookCall]) -> list[HookCall]:
    """Return the calls that have the results of a hook, and before them those that have returned None."""
    attributed = [call for call in calls if call.result is None]
    left = [call for call in calls if call.result is not None]
    for result in results:
        source = next((call for call in left if call.result is result), None)
        if source is not None:
            left.remove(source)
            attributed.append(source)
        elif result is not None:
            place = ", ".join(call.place for call in wrappers)
            attributed.append(HookCall(calls[0].hook if calls else wrappers[0].hook, place, result))
    return attributed


def _wrappers(hook: Any) -> list[Any]:
    return [
        implementation
        for implementation in hook.get_hookimpls()
        if implementation.wrapper or implementation.hookwrapper
    ]


def _runs_in(one: Any, error: BaseException) -> bool:
    """Return whether an exception has passed through an implementation."""
    code = getattr(inspect.unwrap(one.function), "__code__", None)
    return any(frame.f_code is code for frame, _ in traceback.walk_tb(error.__traceback__))


def call_listed(config: pytest.Config, hook: Any, kind: type, expected: str) -> Iterator[tuple[HookCall, Any]]:
    """Yield what the implementations of a hook return in lists, each element with the call that has returned it.

    Raises:
        pytest.UsageError: One raised an exception, returned something else, or an element is not of the kind.
    """
    for call in call_each(config, hook, config=config):
        result = () if call.result is None else call.result
        if isinstance(result, str | bytes | Mapping) or not isinstance(result, Iterable):
            raise pytest.UsageError(call.mistake(shown(result), f"{expected}, or None"))
        for element in result:
            if not isinstance(element, kind):
                raise pytest.UsageError(call.mistake(f"a list with {shown(element)}", f"{expected}, or None"))
            yield call, element


def check_names(hooks: Iterable[Any]) -> None:
    """Refuse implementations of hooks that do not exist, unless they are marked as optional.

    Args:
        hooks: The hooks that do not exist.

    Raises:
        pytest.UsageError: There is one; names the file, the line and similar hooks.
    """
    for hook in hooks:
        for implementation in hook.get_hookimpls():
            if not implementation.optionalhook:
                # Else pytest's own check at the end of the collection is an INTERNALERROR.
                implementation.optionalhook = True
                known = [name for name in vars(hookspecs) if name.startswith("pytest_tau_")]
                raise pytest.UsageError(
                    f"{_place(Path.cwd(), implementation.function)}: {unknown_name('hook', hook.name, known)}"
                )


def first_call(config: pytest.Config, hook: Any, /, **arguments: Any) -> HookCall | None:
    """Return the first call of a hook of one item that has a result; None if none has one."""
    return next((call for call in call_each(config, hook, **arguments) if call.result is not None), None)


def domains_of_plugins(config: pytest.Config) -> dict[str, DomainSpec]:
    """Return the domains of plugins and conftest.py files, by name.

    Raises:
        pytest.UsageError: An implementation raised an exception, or returned something else, or a domain whose name
            cannot be the beginning of node ids.
    """
    from ..environment import DomainSpec

    specs: dict[str, DomainSpec] = {}
    for call, spec in call_listed(config, config.hook.pytest_tau_domains, DomainSpec, "a list of DomainSpec"):
        name = spec.name
        # Node ids begin with it, and pytest prints them as they are.
        if not name or printable(name).strip() != name or "\n" in name or "::" in name:
            expected = "a name of visible characters, without '::' and commands for CI services"
            raise pytest.UsageError(call.mistake(f"a domain called {name!r}", expected))
        specs[name] = spec
    return specs


def missing_domain(config: pytest.Config, name: str, known: Iterable[str]) -> str:
    """Return the error of a domain that is not known: it was loaded too late, or a hook may have forgotten it."""
    late = _late_domain(config, name)
    if late is not None:
        return late
    calls = call_each(config, config.hook.pytest_tau_domains, config=config)
    forgotten = [call.place for call in calls if call.result is None]
    hint = f"; pytest_tau_domains ({', '.join(forgotten)}) returned None: is a return missing?" if forgotten else ""
    return unknown_name("domain", name, known) + hint


def _late_domain(config: pytest.Config, name: str) -> str | None:
    """Return the error of a domain whose conftest.py was loaded after the domains were read; None if there is none."""
    from ..environment import DomainSpec

    for call, spec in call_listed(config, config.hook.pytest_tau_domains, DomainSpec, "a list of DomainSpec"):
        if spec.name == name:
            folder = shlex.quote(str(Path(call.place.rpartition(":")[0]).parent))
            return (
                f"the domain {name!r} ({call.place}) was loaded after the domains of this run were read: name the "
                f"folder on the command line (pytest {folder}), or load the domain earlier, with -p, with "
                "pytest_plugins in the root conftest.py, or by an entry point"
            )
    return None


def indexes_of_plugins(config: pytest.Config) -> dict[str, IndexFactory]:
    """Return the indexes of plugins and conftest.py files, by the names of their retrieval variants.

    Raises:
        pytest.UsageError: An implementation raised an exception, or returned something else.
    """
    factories: dict[str, IndexFactory] = {}
    for call in call_each(config, config.hook.pytest_tau_indexes, config=config):
        expected = "a dict of names and of classes or functions that are called with the documents, or None"
        if call.result is not None and not isinstance(call.result, dict):
            raise pytest.UsageError(call.mistake(shown(call.result), expected))
        for name, make in (call.result or {}).items():
            if not isinstance(name, str) or not callable(make):
                raise pytest.UsageError(call.mistake(f"a dict with {shown(name)}: {shown(make)}", expected))
            factories[name] = make
    return factories


def behaviours_of_plugins(config: pytest.Config) -> dict[str, Behaviour]:
    """Return the behaviours of simulated users of plugins and conftest.py files, by name.

    Raises:
        pytest.UsageError: An implementation raised an exception, or returned something else, or a behaviour with the
            name of a built-in one or with a name that the option cannot have.
    """
    from ..participants.behaviours import BEHAVIOURS, Behaviour

    behaviours: dict[str, Behaviour] = {}
    for call, behaviour in call_listed(config, config.hook.pytest_tau_behaviours, Behaviour, "a list of Behaviour"):
        name = behaviour.name
        if name in BEHAVIOURS or re.fullmatch(r"[A-Za-z0-9_.-]+", name) is None:
            expected = "another name than those of the built-in ones, of letters, digits and _.-"
            raise pytest.UsageError(call.mistake(f"a behaviour called {name!r}", expected))
        behaviours[name] = behaviour
    return behaviours


def evaluators_of_plugins(config: pytest.Config) -> tuple[Evaluator, ...]:
    """Return the reward components of plugins and conftest.py files.

    Raises:
        pytest.UsageError: An implementation raised an exception, or returned something else.
    """
    from ..evaluation import COMPONENTS

    built_in = {component.name for component in COMPONENTS}
    evaluators: dict[str, Evaluator] = {}
    expected = "a list of evaluators, objects with name and evaluate"
    for call, evaluator in call_listed(config, config.hook.pytest_tau_evaluators, object, expected):
        _check_evaluator(call, evaluator)
        if evaluator.name in built_in:
            other = "a name other than those of the built-in components"
            raise pytest.UsageError(call.mistake(f"an evaluator called {evaluator.name!r}", other))
        evaluators[evaluator.name] = evaluator
    return tuple(evaluators.values())


def _check_evaluator(call: HookCall, evaluator: Any) -> None:
    expected = "an object with a string as name and a method evaluate(task, messages, environment)"
    method = getattr(evaluator, "evaluate", None)
    if isinstance(evaluator, type):
        raise pytest.UsageError(call.mistake(f"the class {evaluator.__name__}", f"an object: {evaluator.__name__}()"))
    if not callable(method):
        raise pytest.UsageError(call.mistake(f"{shown(evaluator)}, which has no evaluate method", expected))
    name = getattr(evaluator, "name", None)
    if not isinstance(name, str) or not name:
        raise pytest.UsageError(
            call.mistake(f"{shown(evaluator)} with {'no name' if name is None else f'the name {name!r}'}", expected)
        )
    if inspect.iscoroutinefunction(method):
        raise pytest.UsageError(call.mistake(f"evaluator {name!r} with an async method evaluate", "a plain method"))


def modify_tasks(config: pytest.Config, domain: Domain, tasks: list[Task]) -> None:
    """Let plugins and conftest.py files modify a list of tasks.

    Raises:
        pytest.UsageError: An implementation raised an exception, put something else into the list, or returned
            another list.
    """
    from ..models import Task

    def check(call: HookCall) -> None:
        expected = "a change of the list tasks in place, such as tasks[:] = […]"
        if call.result is not None and call.result is not tasks:
            raise pytest.UsageError(call.mistake(f"{shown(call.result)} as the result, which is ignored", expected))
        for task in tasks:
            if not isinstance(task, Task):
                raise pytest.UsageError(call.mistake(f"{shown(task)} in the list tasks", "a Task: Task(id=…, …)"))

    hook = config.hook.pytest_tau_modify_tasks
    call_each(config, hook, checked=check, config=config, domain=domain, tasks=tasks)


def shown(value: object) -> str:
    """Return a short description of a value that was not expected."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, str | int | float):
        return shorten(repr(value))
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'AEIOUaeio' else 'a'} {kind}"


def _place(folder: Path, function: Any) -> str:
    """Return the file, as seen from the folder in which pytest was started, and the line of a function."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return str(getattr(function, "__module__", function))
    file = relative_path(Path(code.co_filename), folder)
    return f"{file}:{code.co_firstlineno}"
