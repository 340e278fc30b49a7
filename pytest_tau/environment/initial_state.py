"""The initial state of a task, applied to an environment."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from ..errors import DomainError, TaskFormatError, ToolError, ToolServerError
from ..models.problems import problem_text
from .database import Database
from .records import digest
from .toolkit import Toolkit

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from ..models import FunctionCall, InitialState, Task
    from .environment import Environment

#: Initial states that are kept, those that were used last: 10 kB each in telecom. The check of all tasks at collection
#: makes each state for the first time, and trials should find it.
_MOST_STATES: Final = 4096
#: Types of a toolkit's own attributes that copies of the toolkit can share.
_SHARED: Final = (str, int, float, bool, frozenset, type(None))


class InitialStates:
    """Environments in the initial state of a task: made anew twice, and copied from then on if both were the same.

    An initial state that depends on anything else than the task, such as the time, is never copied.
    """

    def __init__(self) -> None:
        self._made: OrderedDict[Hashable, Environment] = OrderedDict()
        self._equal: dict[Hashable, bool] = {}
        # Trials are set up, run and graded in several threads.
        self._lock = threading.Lock()

    def environment(
        self,
        state: InitialState,
        mode: tuple[str | None, bool, bool],
        make: Callable[[], Environment],
        *,
        shared: bool = False,
    ) -> Environment:
        """Return an environment in an initial state.

        Args:
            state: The initial state, compared by content.
            mode: What else the environment depends on.
            make: Makes an environment, and carries out what the initial state says.
            shared: Whether it is for reading only, and needs no copy.
        """
        key = (digest(state), *mode)
        with self._lock:
            known, is_equal = self._made.get(key), self._equal.get(key)
            if known is not None:
                self._made.move_to_end(key)
        if known is not None and is_equal:
            return known if shared else known.fork()
        made = make()
        if _is_data(made) and is_equal is None:
            self._keep(key, made.fork() if known is None and not shared else made, known)
        return made

    def _keep(self, key: Hashable, made: Environment, known: Environment | None) -> None:
        twin = made if known is None else known
        is_equal = None if known is None else made.equals(known)
        with self._lock:
            self._made[key] = twin
            if is_equal is not None:
                self._equal[key] = is_equal
            if len(self._made) > _MOST_STATES:
                self._equal.pop(self._made.popitem(last=False)[0], None)


def _is_data(environment: Environment) -> bool:
    """Return whether a copy of an environment differs in nothing: the state is in the databases, which are data."""
    return environment.retrieval is None and all(
        type(toolkit.db).in_files
        and type(toolkit.db).for_replay is Database.for_replay
        and type(toolkit).begin_task is Toolkit.begin_task
        and all(isinstance(value, _SHARED) for name, value in vars(toolkit).items() if name != "db")
        for toolkit in environment.toolkits
    )


def apply_initial_state(environment: Environment, task: Task, *, replay_history: bool = True) -> None:
    """Merge initialization data, run initialization actions, replay the message history, sync.

    Raises:
        TaskFormatError: Names the task and the field that cannot be applied.
    """
    state = task.initial_state
    if state is None:
        return
    where = "initial_state.initialization_data"
    try:
        if state.initialization_data is not None:
            environment.merge(state.initialization_data.agent_data, state.initialization_data.user_data)
        for position, action in enumerate(state.initialization_actions or []):
            where = f"initial_state.initialization_actions.{position}"
            initialize(environment, action)
        where = "initial_state.message_history"
        if replay_history and state.message_history:
            environment.replay(state.message_history)
        environment.sync()
    except (DomainError, ToolServerError):
        raise  # no fault of the task
    except TaskFormatError as error:  # of the data
        raise TaskFormatError(error.problem, task_id=task.id, field=f"{where}.{error.field}") from None
    except Exception as error:
        # Any exception of a domain's function here means that the task does not fit the domain.
        raise TaskFormatError(f"cannot be applied: {problem_text(error)}", task_id=task.id, field=where) from error


def initialize(environment: Environment, action: FunctionCall) -> None:
    """Carry out an initialization action.

    Raises:
        ToolError: It is a tool that refuses in a text, as it does to a user: for an app that there is not, for example.
    """
    found = environment.run_function(action.env_type, action.func_name, action.arguments)
    if isinstance(found, str) and found.startswith("Error"):
        raise ToolError(found.splitlines()[0])
