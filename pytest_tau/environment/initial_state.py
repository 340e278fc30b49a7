"""The initial state of a task, applied to an environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import DomainError, TaskFormatError, ToolError, ToolServerError
from ..models.problems import problem_text

if TYPE_CHECKING:
    from ..models import FunctionCall, Task
    from .environment import Environment


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
            _initialize(environment, action)
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


def _initialize(environment: Environment, action: FunctionCall) -> None:
    """Carry out an initialization action.

    Raises:
        ToolError: It is a tool that refuses in a text, as it does to a user: for an app that there is not, for example.
    """
    found = environment.run_function(action.env_type, action.func_name, action.arguments)
    if isinstance(found, str) and found.startswith("Error"):
        raise ToolError(found.splitlines()[0])
