"""Domains: the declaration of a domain, and a domain with its data."""

from __future__ import annotations

import functools
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import ConfigurationError, hides_frames
from ..models.task_files import DEFAULT_SPLIT, SESSIONS_SPLIT
from ..world import InWorld
from .between import Between
from .domain_files import DomainPolicies, DomainTasks, PolicyFiles, UntouchedDatabases, load_database
from .environment import Environment
from .initial_state import InitialStates, apply_initial_state
from .records import digest
from .retrieval import Retrieval
from .toolkit import argument_names, shared_name
from .values import Values, filled

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from ..models import Spoken, Task
    from .database import Database
    from .retrieval import KnowledgeBase, KnowledgeSpec, Retriever
    from .toolkit import Toolkit, ToolTexts

#: pytest omits the frames of this module from the traceback of a wrong declaration.
__tracebackhide__ = hides_frames

T = TypeVar("T")


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
        tasks: The folder of ``split_tasks.json`` and its task files (``*.json`` or ``tasks/*.json``; of these
            only ``*.tau.json`` if there are any), or one task file.
        agent_db: Type of the agent-side database, in ``db.json`` or ``db.toml``.
        agent_tools: The agent's toolkit.
        user_db: Type of the user-side database, in ``user_db.json`` or ``user_db.toml``; None if the user's tools work
            on the agent's database.
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
        spoken: The words by which people ask for the user's tools, by tool, and for facts of its script, by the fact's
            name; for users without a model. For other tools, words are derived from name and description.
        knowledge: The knowledge base whose documents the agent can search; :class:`pytest_tau.knowledge.Knowledge`.
        free_text: The names of fields, or globs, that hold free text in results of tools, for attacks; if there are
            none, they are derived from names and values.
        rules: The rules of the policy that are checked in conversations: :class:`pytest_tau.policy.Rule` objects, or
            ``module:attribute`` of one or of a list of them, which is imported when rules are checked first.
        rules_count: Whether the rules are a factor of the reward, the component ``POLICY``: 1 if all were kept. A
            collection of names means these rules.
        ways_round: Ways round a refusal that the policy leaves: :class:`pytest_tau.policy.WayRound` objects, or
            ``module:attribute`` of a list of them.
        values: The numbers and closed choices that its policy states, read with ``read_values``. Placeholders in the
            policy, the docstrings of tools, the sentences of rules and the tasks name them, such as
            ``{extra_bag_fee * 2}``.
        make_tasks: Makes the tasks of the files anew in a domain with other values: by id each task, or why there is
            none. By default, their placeholders are filled.
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
    knowledge: KnowledgeSpec | None = None
    free_text: tuple[str, ...] = ()
    rules: Sequence[Any] | str = ()
    rules_count: bool | Collection[str] = False
    ways_round: Sequence[Any] | str = ()
    values: Values = field(default_factory=Values)
    make_tasks: Callable[[Domain, Sequence[Task]], Mapping[str, Task | str]] | None = None

    def with_values(self, values: Values) -> DomainSpec:
        """Return the declaration with other values, which its toolkits have, too."""
        user = self.user_tools
        tools = self.agent_tools.with_values(values)
        return replace(self, values=values, agent_tools=tools, user_tools=user and user.with_values(values))

    @property
    def tool_names(self) -> frozenset[str]:
        """The names of the tools of both toolkits."""
        sides = (self.agent_tools, self.user_tools)
        return frozenset(name for side in sides if side for name in side.tool_infos)

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
        tool_texts: Texts of tools that are shown instead of the toolkits' own, by side and name; None for none.
    """

    def __init__(self, spec: DomainSpec, folder: Path, tasks_folder: Path) -> None:
        self.spec, self.folder, self.tasks_folder = spec, folder, tasks_folder
        self._of_tasks: InWorld[dict[bytes, dict[str, Any]]] = InWorld(dict)
        self._tasks = DomainTasks(spec.name, spec.data_name, tasks_folder, self._carried_over, self._filled)
        self._policies = DomainPolicies(spec.name, folder, spec.policies, self._policy_text)
        self._initial_states = InWorld(InitialStates)
        #: The tasks whose reference actions were checked, by identity: they are looked up before each trial.
        self.checked_references: InWorld[dict[int, Task]] = InWorld(dict)
        self.tool_texts: ToolTexts | None = None

    @property
    def name(self) -> str:
        """The domain's name."""
        return self.spec.name

    def tasks(self, split: str | None = DEFAULT_SPLIT) -> list[Task]:
        """Return the tasks of a split, in file order.

        Args:
            split: A split's name; None for every task, as is ``full`` unless the domain defines it. A domain without
                splits has only ``base``: every task. ``sessions`` are the tasks in ``sessions.json`` next to
                ``tasks.json``, which are in no other split.

        Raises:
            ConfigurationError: No such split.
            TaskFormatError: A task file does not follow the format.
        """
        return self._tasks.of_split(split)

    def tasks_by_id(self) -> dict[str, Task]:
        """Return all tasks that an id can name: those of every split, ``sessions`` among them.

        Raises:
            ConfigurationError: There are no task files.
            TaskFormatError: A task file does not follow the format.
        """
        splits = [None, *({SESSIONS_SPLIT} & {*self.split_names})]
        return {task.id: task for split in splits for task in self.tasks(split)}

    @property
    def not_carried_over(self) -> Mapping[str, str]:
        """The tasks that the domain lacks because of its values, by id: why."""
        return self._tasks.not_carried_over

    def with_own_values(self, tasks: Sequence[Task], file: Path) -> list[Task]:
        """Return the tasks of a file as they are with the domain's values.

        Raises:
            TaskFormatError: A placeholder names a value that is not declared, or cannot be calculated.
        """
        values = self.spec.values
        own = {task.id: task for task in self.tasks(None)} if values.changed and file in self._tasks.paths else {}
        if own:
            return [own[task.id] for task in tasks if task.id in own]
        return self._filled(tasks)

    def _filled(self, tasks: Sequence[Task]) -> list[Task]:
        """Return tasks whose placeholders are filled with the domain's values."""
        values = self.spec.values
        return [filled(task, values) for task in tasks] if values and self.has_own_data else list(tasks)

    def _carried_over(self, tasks: Sequence[Task]) -> Mapping[str, Task | str]:
        """Return the tasks of the files by id as they are with the domain's values, or why they cannot be."""
        values = self.spec.values
        if not values or not self.has_own_data:
            return {task.id: task for task in tasks}
        if values.changed and self.spec.make_tasks is not None:
            return self.spec.make_tasks(self, tasks)
        return {task.id: filled(task, values) for task in tasks}

    @property
    def policy_source(self) -> str:
        """The text of the default policy with its placeholders."""
        return self.spec.policy_text(self._policies.sources(None, solo=False))

    def _policy_text(self, texts: list[str]) -> str:
        text, values = self.spec.policy_text(texts), self.spec.values
        return values.fill(text, f"policy of domain {self.name!r}") if values and self.has_own_data else text

    def base_tasks(self) -> Mapping[str, Task]:
        """Return the tasks of the split ``base`` by id, for reading only.

        Raises:
            TaskFormatError: A task file does not follow the format.
        """
        return self._tasks.base()

    @property
    def splits(self) -> dict[str, list[str]]:
        """The task ids by split."""
        return self._tasks.splits

    @property
    def split_names(self) -> list[str]:
        """The names of the splits, with ``sessions`` if the domain has tasks of several sessions."""
        return self._tasks.split_names

    def environment(
        self,
        task: Task | None = None,
        solo: bool = False,
        policy: str | None = None,
        *,
        retrieval: Retrieval | None = None,
        replay_history: bool = True,
        apart: bool = False,
    ) -> Environment:
        """Make an environment.

        Args:
            task: The task whose initial state is applied; None for the untouched databases.
            solo: The agent works alone, with both sides' tools.
            policy: Variant of the policy; None for the default. For a domain with a knowledge base also the name of a
                retrieval variant.
            retrieval: How the agent accesses the documents of the domain's knowledge base; None for the default.
            replay_history: Whether the calls of the task's message history are executed; not if a recorded
                conversation is replayed, of which it is a part.
            apart: Whether it shares nothing with the environments of trials, such as what their calls have returned.

        Raises:
            ConfigurationError: Unknown variant, or the domain cannot be run solo or has no knowledge base.
            TaskFormatError: The initial state cannot be applied.
        """
        policy, retriever = self.check_mode(solo=solo, policy=policy, retrieval=retrieval)
        return self._initial(task, policy, retriever, solo=solo, replay_history=replay_history, apart=apart)

    def shared_environment(self, task: Task) -> Environment:
        """Return an environment in a task's initial state that others may share, for reading only.

        Raises:
            TaskFormatError: The initial state cannot be applied.
        """
        policy, retriever = self.check_mode(solo=False, policy=None)
        return self._initial(task, policy, retriever, shared=True)

    def _initial(
        self,
        task: Task | None,
        policy: str | None,
        retriever: Retriever | None,
        *,
        solo: bool = False,
        replay_history: bool = True,
        shared: bool = False,
        apart: bool = False,
    ) -> Environment:
        def make() -> Environment:
            environment = self._untouched(task, policy, retriever, solo=solo, for_replay=not replay_history)
            if apart:
                environment.apart()
            environment.sync()
            if task is not None:
                environment.begin_task(task)
                apply_initial_state(environment, task, replay_history=replay_history)
            return environment

        if task is None or task.initial_state is None or retriever is not None:
            return make()
        # Without a history, an environment for a replay is like any other.
        replayed = replay_history or not task.initial_state.message_history
        return self._initial_states.value.environment(task.initial_state, (policy, solo, replayed), make, shared=shared)

    def _untouched(
        self, task: Task | None, policy: str | None, retriever: Retriever | None, *, solo: bool, for_replay: bool
    ) -> Environment:
        """Return an environment over copies of the untouched databases."""
        spec = self.spec
        agent_db, user_db = self._databases.agent, self._databases.user

        def fork(db: Database) -> Database:
            return db.fork().for_replay() if for_replay else db.fork()

        def own_policy() -> str:
            return self._policies.text(policy, solo=solo)

        agent = spec.agent_tools(fork(agent_db))
        environment = Environment(
            domain_name=self.name,
            policy=retriever.policy_text(own_policy, task) if retriever else own_policy(),
            agent=agent,
            retrieval=retriever.toolkit(agent.db) if retriever else None,
            user=spec.user_tools(fork(user_db) if user_db else agent.db) if spec.user_tools else None,
            sync=spec.sync,
            solo=solo,
            merge_aliases=spec.merge_aliases,
            between=Between,
        )
        environment.tool_texts = self.tool_texts
        return environment

    def check_mode(
        self, *, solo: bool, policy: str | None, retrieval: Retrieval | None = None
    ) -> tuple[str | None, Retriever | None]:
        """Check that the domain can be run like this.

        Returns:
            The variant of the policy, and that of the knowledge base; None without one.

        Raises:
            ConfigurationError: Unknown variant, or the domain cannot be run solo or has no knowledge base.
        """
        base = self.knowledge
        if retrieval is not None and base is None:
            raise ConfigurationError(f"domain {self.name!r} has no knowledge base: remove --tau-agent-retrieval")
        if base is not None and policy is not None and policy not in self.spec.policies:
            retrieval, policy = Retrieval(policy), None
        if solo and (self.spec.user_tools is None or not self._policies.files(policy).solo):
            raise ConfigurationError(f"domain {self.name!r} cannot be run solo")
        if solo and (problem := shared_name(self.spec.agent_tools, self.spec.user_tools)):
            raise ConfigurationError(f"domain {self.name!r} cannot be run solo: {problem}")
        self._policies.files(policy)
        return policy, base.retriever(retrieval or Retrieval()) if base else None

    @functools.cached_property
    def knowledge(self) -> KnowledgeBase | None:
        """The knowledge base; None if the domain has none."""
        return self.spec.knowledge.load(self.folder) if self.spec.knowledge else None

    @functools.cached_property
    def tool_arguments(self) -> dict[str, frozenset[str] | None]:
        """The arguments of each tool that a trial may have, in any variant and mode; None if they are not known."""
        searches = self.knowledge.tool_names if self.knowledge else ()
        return dict.fromkeys(searches) | argument_names(filter(None, (self.spec.agent_tools, self.spec.user_tools)))

    def check_data(self, policy: str | None = None, retrieval: Retrieval | None = None, *, solo: bool = False) -> None:
        """Read databases, documents and the policy, which are otherwise read when they are needed.

        Args:
            policy: Variant of the policy; None for the default.
            retrieval: How the agent accesses the documents; None for the default.
            solo: The agent works alone.

        Raises:
            ConfigurationError: A file cannot be read, or does not fit its type; names file, place and problem. Or the
                retrieval variant needs a program or a library that is not installed.
        """
        _ = self._databases
        retriever = self.retriever(policy, retrieval)
        if retriever is None:
            self._policies.text(policy, solo=solo)
        else:
            retriever.check(self.spec.tool_names)

    def retriever(self, policy: str | None, retrieval: Retrieval | None) -> Retriever | None:
        """Return the retrieval variant that these settings mean; None without a knowledge base."""
        return self.check_mode(solo=False, policy=policy, retrieval=retrieval)[1]

    def showing(self, spec: DomainSpec, tool_texts: ToolTexts | None) -> Domain:
        """Return this domain with other texts.

        Args:
            spec: The declaration, whose toolkits differ in texts only.
            tool_texts: Texts of tools that are shown instead of the toolkits' own, by side and name; None for none.
        """
        twin = copy(self)
        # Environments have the texts of their domain, so that the twin has initial states of its own.
        vars(twin).update(spec=spec, tool_texts=tool_texts, _initial_states=InWorld(InitialStates))
        return twin

    def once_per_task(self, task: Task, what: str, compute: Callable[[Task], T]) -> T:
        """Return the result of a function of a task, computed once a process, or once while a fixture is set up.

        Args:
            task: The task, compared by content: its lists and objects can be changed in place, and results of a run
                may have another one of the same id.
            what: The name of the result.
            compute: Computes it.
        """
        known = self._of_tasks.value.setdefault(digest(task), {})
        if what not in known:
            known[what] = compute(task)
        found: T = known[what]
        return found

    def kept(self, task: Task, what: str) -> Any:
        """Return the result of a function of a task that ``once_per_task`` keeps; None if it was not computed."""
        return self._of_tasks.value.get(digest(task), {}).get(what)

    def forget(self, task: Task) -> None:
        """Drop what is kept of a task that is not needed again, such as its reference state."""
        self._of_tasks.value.pop(digest(task), None)

    @property
    def has_own_data(self) -> bool:
        """Whether the data is the domain's own, not that of a folder in the layout of τ²-bench."""
        return self.folder == self.spec.folder

    def shared_records_problem(self) -> str | None:
        """Return which of the records that all simulations share was changed; None if none was."""
        problem = self._databases.problem()
        return None if problem is None else f"domain {self.spec.name!r}: {problem}"

    def file_of(self, task: Task) -> Path | None:
        """Return the file that a task was read from; None for a task that is not the domain's."""
        return self._tasks.file_of(task)

    @functools.cached_property
    def _databases(self) -> UntouchedDatabases:
        agent, user = self.spec.agent_db, self.spec.user_db
        # Data in the layout of τ²-bench is large, and written by programs.
        load = functools.partial(load_database, self.folder, unique_keys=self.has_own_data)
        return UntouchedDatabases(lambda: (load("db", agent), load("user_db", user) if user else None))
