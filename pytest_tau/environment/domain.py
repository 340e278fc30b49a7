"""Domains: the declaration of a domain, and a domain with its data."""

from __future__ import annotations

import functools
import hashlib
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from ..documents import DocumentError, read_toml
from ..errors import ConfigurationError, TaskFormatError, ToolError, unknown_name
from ..models import load_splits, load_task_file
from ..models.task_files import DEFAULT_SPLIT, is_every_task, unknown_split
from .environment import Environment
from .records import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ..models import FunctionCall, Spoken, Task
    from .database import Database
    from .toolkit import Toolkit

T = TypeVar("T")


@dataclass(frozen=True)
class PolicyFiles:
    """The files of one variant of a policy, joined in order; ``solo`` for an agent that works alone."""

    normal: tuple[str, ...]
    solo: tuple[str, ...] = ()


@dataclass(frozen=True)
class Difficulty:
    """The difficulty of generated tasks.

    Attributes:
        requests: The number of the user's requests.
        faults: The number of simultaneous faults; None for the domain's default.
        distractors: The number of irrelevant facts in the conversation or the data.
    """

    requests: int = 1
    faults: int | None = None
    distractors: int = 0


@dataclass(frozen=True)
class DomainSpec:
    """The declaration of a domain.

    Attributes:
        name: The name for ``--tau-domain``.
        folder: The folder of its databases and policies.
        tasks: The folder of its task files (``*.json``) and ``split_tasks.json``, or one task file.
        agent_db: Type of the agent-side database, in ``db.json`` or ``db.toml``.
        agent_tools: The agent's toolkit.
        user_db: Type of the user-side database, in ``user_db.json`` or ``user_db.toml``.
        user_tools: The user's toolkit.
        sync: Called with both databases after each successful call.
        policies: Variants of the policy by name; the first is the default.
        policy_text: Joins the files' texts.
        data_name: Folder under ``domains/`` of official data, if it is not the name.
        agents: Agents that know the domain and need no model, by their names for ``--tau-agent``; each a class, or
            ``module:attribute``.
        generate: Generates a number of new tasks of a seed; the first ones are the same for every number.
        merge_aliases: Initialization data for one side puts both sides on that side's database. Source: τ²-bench
            v1.0.1, where it happens to every domain; here to those whose recorded behaviour depends on it.
        spoken: The words by which people ask for the user's tools, by tool; for users without a model. For other tools,
            words are derived from name and description.
    """

    name: str
    folder: Path
    tasks: Path
    agent_db: type[Database]
    agent_tools: type[Toolkit[Any]]
    user_db: type[Database] | None = None
    user_tools: type[Toolkit[Any]] | None = None
    sync: Callable[[Any, Any], None] | None = None
    policies: dict[str, PolicyFiles] = field(default_factory=lambda: {"default": PolicyFiles(("policy.md",))})
    policy_text: Callable[..., str] = "\n".join
    data_name: str | None = None
    agents: dict[str, type | str] = field(default_factory=dict)
    generate: Callable[[int, int, Difficulty], Iterator[Task]] | None = None
    merge_aliases: bool = False
    spoken: Mapping[str, Spoken] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Toolkits had the words before. To be removed one release after the warning was introduced.
        from_toolkit = getattr(self.user_tools, "spoken", None)
        if from_toolkit and not self.spoken:
            problem = "'spoken' on a toolkit is deprecated: pass it to the DomainSpec"
            warnings.warn(problem, DeprecationWarning, stacklevel=3)
            object.__setattr__(self, "spoken", from_toolkit)

    def load(self, data_dir: Path | str | None = None) -> Domain:
        """Load the domain with its bundled data, or with data laid out as τ²-bench's ``data/tau2``.

        Raises:
            ConfigurationError: The folder lacks this domain.
        """
        if data_dir is None:
            return Domain(self, self.folder, self.tasks)
        folder = Path(data_dir) / "domains" / (self.data_name or self.name)
        if not folder.is_dir():
            raise ConfigurationError(
                f"no data of domain {self.name!r} in {data_dir}: expected a folder domains/{folder.name} in it"
            )
        return Domain(self, folder, folder)


class Domain:
    """A domain with its data, read once and shared by every environment made from it.

    Attributes:
        spec: The declaration.
        folder: The folder of its databases and policies.
        tasks_folder: The folder of its tasks, or their file.
    """

    def __init__(self, spec: DomainSpec, folder: Path, tasks_folder: Path) -> None:
        self.spec, self.folder, self.tasks_folder = spec, folder, tasks_folder
        self._of_tasks: dict[tuple[bytes, str], Any] = {}
        self._task_files: dict[str, Path] = {}
        self._policies: dict[tuple[str | None, bool], str] = {}

    @property
    def name(self) -> str:
        """The domain's name."""
        return self.spec.name

    def tasks(self, split: str | None = DEFAULT_SPLIT) -> list[Task]:
        """Return the tasks of a split, in file order.

        Args:
            split: A split's name; None for every task, as is ``full`` unless the domain defines it. A domain without
                splits has only ``base``: every task.

        Raises:
            ConfigurationError: No such split.
            TaskFormatError: A task file does not follow the format.
        """
        if split is None or is_every_task(split, self.splits):
            return list(self._tasks)
        if split not in self.splits:
            raise ConfigurationError(unknown_split(split, self.splits, f"domain {self.name!r}", self._splits_folder))
        wanted = set(self.splits[split])
        missing = wanted.difference(task.id for task in self._tasks)
        if missing:
            file = self.tasks_folder / "split_tasks.json"
            raise TaskFormatError(f"names a task that does not exist: {min(missing)!r}", file=file, field=split)
        return [task for task in self._tasks if task.id in wanted]

    @functools.cached_property
    def splits(self) -> dict[str, list[str]]:
        """The task ids by split."""
        return load_splits(self._splits_folder)

    @property
    def _splits_folder(self) -> Path:
        return self.tasks_folder.parent if self.tasks_folder.is_file() else self.tasks_folder

    def environment(
        self,
        task: Task | None = None,
        solo: bool = False,
        policy: str | None = None,
        *,
        replay_history: bool = True,
    ) -> Environment:
        """Make an environment.

        Args:
            task: The task whose initial state is applied; None for the untouched databases.
            solo: The agent works alone, with both sides' tools.
            policy: Variant of the policy; None for the default.
            replay_history: Whether the calls of the task's message history are executed; not if a recorded
                conversation is replayed, of which it is a part.

        Raises:
            ConfigurationError: Unknown variant, or the domain cannot be run solo.
            TaskFormatError: The initial state cannot be applied.
        """
        self.check_mode(solo=solo, policy=policy)
        spec = self.spec
        agent_db, user_db = self._databases

        def fork(db: Database) -> Database:
            return db.fork() if replay_history else db.fork().for_replay()

        environment = Environment(
            domain_name=self.name,
            policy=self._policy(policy, solo=solo),
            agent=spec.agent_tools(fork(agent_db)),
            user=spec.user_tools(fork(user_db)) if spec.user_tools and user_db else None,
            sync=spec.sync,
            solo=solo,
            merge_aliases=spec.merge_aliases,
        )
        environment.sync()
        if task is not None and task.initial_state is not None:
            apply_initial_state(environment, task, replay_history=replay_history)
        return environment

    def check_mode(self, *, solo: bool, policy: str | None) -> None:
        """Check that the domain can be run like this.

        Raises:
            ConfigurationError: Unknown variant of the policy, or the domain cannot be run solo.
        """
        if solo and (self.spec.user_tools is None or not self._policy_files(policy).solo):
            raise ConfigurationError(f"domain {self.name!r} cannot be run solo")
        self._policy_files(policy)

    def check_data(self) -> None:
        """Read the databases, which are otherwise read when the first environment is made.

        Raises:
            ConfigurationError: A file cannot be read, or does not fit its type; names file, place and problem.
        """
        _ = self._databases

    def reference_environment(self, task: Task) -> Environment:
        """Return a copy of the state after the task's reference actions, which are executed once a process.

        Source: τ²-bench v1.0.1: an action that raises is skipped, there is no sync between actions, and each side
        executes its own, also if the graded agent worked alone.
        """
        return self.once_per_task(task, "reference", self._after_reference_actions).fork()

    def once_per_task(self, task: Task, what: str, compute: Callable[[Task], T]) -> T:
        """Return the result of a function of a task, computed once a process.

        Args:
            task: The task, compared by content: its lists and objects can be changed in place, and results of a run
                may have another one of the same id.
            what: The name of the result.
            compute: Computes it.
        """
        key = (_digest(task), what)
        if key not in self._of_tasks:
            self._of_tasks[key] = compute(task)
        found: T = self._of_tasks[key]
        return found

    def _after_reference_actions(self, task: Task) -> Environment:
        environment = self.environment(task)
        # Every conversation begins with the calls that the history ends with.
        pending = getattr(task.message_history[-1], "tool_calls", None) if task.message_history else None
        for action in [*(pending or []), *(task.criteria.actions or [])]:
            try:
                environment.execute(action.name, action.arguments, action.requestor)
            except Exception:  # noqa: BLE001, S112 - the tool boundary; a failing reference action is skipped
                continue
        environment.close()
        return environment

    @functools.cached_property
    def _tasks(self) -> list[Task]:
        if self.tasks_folder.is_file():
            files = [self.tasks_folder]
        elif (self.tasks_folder / "tasks.json").is_file():
            # Official data has subsets of tasks.json in the same folder.
            files = [self.tasks_folder / "tasks.json"]
        else:
            files = sorted(f for f in self.tasks_folder.glob("*.json") if f.name != "split_tasks.json")
        if not files:
            raise ConfigurationError(f"no task files of domain {self.name!r} in {self.tasks_folder}")
        tasks: list[Task] = []
        for file in files:
            content = load_task_file(file)
            if content.domain not in (None, self.name, self.spec.data_name):
                problem = (
                    f"names the domain {content.domain!r}, but the file is one of domain {self.name!r}: correct it"
                )
                raise TaskFormatError(problem, file=file, field="domain")
            for task in content.tasks:
                if task.id in self._task_files:
                    problem = f"{self._task_files[task.id].name} has a task with this id"
                    raise TaskFormatError(problem, file=file, task_id=task.id, field="id")
                self._task_files[task.id] = file
                tasks.append(task)
        return tasks

    def file_of(self, task: Task) -> Path | None:
        """Return the file that a task was read from; None for a task that is not the domain's."""
        return self._task_files.get(task.id)

    @functools.cached_property
    def _databases(self) -> tuple[Database, Database | None]:
        spec = self.spec
        agent_db = _load_database(self.folder, "db", spec.agent_db)
        return agent_db, _load_database(self.folder, "user_db", spec.user_db) if spec.user_db else None

    def _policy_files(self, name: str | None) -> PolicyFiles:
        policies = self.spec.policies
        if name is not None and name not in policies:
            raise ConfigurationError(f"{unknown_name('policy', name, policies)} of domain {self.name!r}")
        return policies[name] if name is not None else next(iter(policies.values()))

    def _policy(self, name: str | None, *, solo: bool) -> str:
        key = (name, solo)
        if key not in self._policies:
            files = self._policy_files(name)
            texts = [self._read(file) for file in (files.solo if solo else files.normal)]
            self._policies[key] = self.spec.policy_text(texts)
        return self._policies[key]

    def _read(self, name: str) -> str:
        try:
            return (self.folder / name).read_text(encoding="utf-8")
        except OSError as error:
            raise ConfigurationError(f"policy of domain {self.name!r}: {error}") from None


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
    except Exception as error:
        # Any exception of a domain's function here means that the task does not fit the domain.
        raise TaskFormatError(f"cannot be applied: {error}", task_id=task.id, field=where) from error


def _initialize(environment: Environment, action: FunctionCall) -> None:
    """Carry out an initialization action.

    Raises:
        ToolError: It is a tool that refuses in a text, as it does to a user: for an app that there is not, for example.
    """
    found = environment.run_function(action.env_type, action.func_name, action.arguments)
    if isinstance(found, str) and found.startswith("Error"):
        raise ToolError(found.splitlines()[0])


def _digest(task: Task) -> bytes:
    """Return a digest of a task's content."""
    try:
        content = task.model_dump_json()
    except ValueError:  # a value that is not JSON, or text that is not Unicode
        content = canonical(task)
    return hashlib.blake2b(content.encode(), digest_size=16).digest()


def _load_database(folder: Path, stem: str, model: type[Database]) -> Database:
    if not model.in_files:
        return model()
    path = folder / f"{stem}.json"
    try:
        if path.is_file():
            return _checked(model.model_validate_json(path.read_bytes()), path)
        path = folder / f"{stem}.toml"
        if not path.is_file():
            raise ConfigurationError(f"{folder}: expected a database, {stem}.json or {stem}.toml")
        return _checked(model.model_validate(read_toml(path)), path)
    except ValidationError as error:
        first = error.errors()[0]
        place = "/".join(map(str, first["loc"]))
        raise ConfigurationError(f"{path}: {place}: {first['msg']}" if place else f"{path}: {first['msg']}") from None
    except (OSError, DocumentError) as error:
        raise ConfigurationError(f"{path}: {error}") from None


def _checked(database: Database, path: Path) -> Database:
    """Return the database, if each record that carries its id is stored under it.

    Raises:
        ConfigurationError: A key differs; names file, table, key and field.
    """
    for table, key, id_field, value in database.misplaced_records():
        raise ConfigurationError(f"{path}: {table}/{key}: the key differs from {id_field} {value!r}: make them equal")
    return database
