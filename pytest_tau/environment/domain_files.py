"""The files of a domain: its tasks, its databases and its policy."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from ..documents import DocumentError, file_text, parse_json, read_text, read_toml
from ..errors import ConfigurationError, TaskFormatError, hides_frames, unknown_name
from ..garbage import without_collections
from ..models import load_task_file
from ..models.problems import place_and_problems
from ..models.task_files import DEFAULT_SPLIT, SESSIONS_SPLIT, SPLITS, is_every_task, load_splits, unknown_split
from .records import content_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from ..models import Task
    from .database import Database

#: pytest omits the frames of this module from the traceback of a wrong declaration.
__tracebackhide__ = hides_frames


#: How the names of files end that have tasks and nothing else.
TASK_SUFFIX = ".tau.json"
#: After each of so many trials of a process, databases are compared with what was read from files; after each later
#: trial only databases of so many bytes of JSON, as a byte takes 5 ns. Larger ones are compared less often.
_FIRST_TRIALS, _EACH_TRIAL = 8, 10_000
_NOT_SHARED = "scan() and peek() return records for reading only; change table[id], which is the simulation's own copy"


class DomainTasks:
    """The tasks of a domain, read at first use.

    Args:
        name: The domain's name.
        other_name: Another name that the files may give the domain; None for none.
        place: The folder of the task files, or the only one.
        carry_over: Returns the tasks of the files by id as they are with the domain's values, or why they cannot be.
        fill: Returns tasks of another file with the domain's values.
    """

    def __init__(
        self,
        name: str,
        other_name: str | None,
        place: Path,
        carry_over: Callable[[Sequence[Task]], Mapping[str, Task | str]],
        fill: Callable[[Sequence[Task]], list[Task]],
    ) -> None:
        self._name, self._other_name, self._place = name, other_name, place
        self._carry_over, self._fill = carry_over, fill
        self._files: dict[str, Path] = {}
        self._by_split: dict[str, dict[str, Task]] = {}

    def of_split(self, split: str | None = DEFAULT_SPLIT) -> list[Task]:
        """Return the tasks of a split, in file order; None for every task.

        Raises:
            ConfigurationError: No such split.
            TaskFormatError: A task file does not follow the format.
        """
        if split is None or is_every_task(split, self.splits):
            return list(self._tasks)
        if split == SESSIONS_SPLIT and self._sessions_file is not None:
            return list(self._with_sessions)
        return list(self._in_split(split).values())

    def base(self) -> dict[str, Task]:
        """Return the tasks of the split ``base`` by id, for reading only.

        Raises:
            TaskFormatError: A task file does not follow the format.
        """
        return self._in_split(DEFAULT_SPLIT)

    def _in_split(self, split: str) -> dict[str, Task]:
        """Return the tasks of a split by id, found once."""
        if split not in self._by_split:
            every = is_every_task(split, self.splits)
            if not every and split not in self.splits:
                known = dict.fromkeys(self.split_names)
                raise ConfigurationError(unknown_split(split, known, f"domain {self._name!r}", self._folder))
            wanted = {task.id for task in self._tasks} if every else set(self.splits[split])
            found = {task.id: task for task in self._tasks if task.id in wanted}
            missing = wanted.difference(found, self.not_carried_over)
            if missing:
                problem = f"names a task that does not exist: {min(missing)!r}"
                raise TaskFormatError(problem, file=self._folder / SPLITS, field=split)
            self._by_split[split] = found
        return self._by_split[split]

    @functools.cached_property
    def splits(self) -> dict[str, list[str]]:
        """The task ids by split."""
        return load_splits(self._folder)

    @property
    def split_names(self) -> list[str]:
        """The names of the splits, with that of the tasks of several sessions if there are any."""
        return [*self.splits, *([SESSIONS_SPLIT] if self._sessions_file else ())]

    @functools.cached_property
    def _sessions_file(self) -> Path | None:
        file = self._folder / f"{SESSIONS_SPLIT}.json"
        apart = SESSIONS_SPLIT not in self.splits and _task_files(self._place) == [self._folder / "tasks.json"]
        return file if apart and file.is_file() else None

    @functools.cached_property
    def _with_sessions(self) -> list[Task]:
        assert self._sessions_file is not None
        known, tasks = {task.id for task in self._tasks}, self._fill(load_task_file(self._sessions_file).tasks)
        if repeated := next((task.id for task in tasks if task.id in known), None):
            problem = f"{self._files[repeated].name} has a task with this id"
            raise TaskFormatError(problem, file=self._sessions_file, task_id=repeated, field="id")
        return tasks

    def file_of(self, task: Task) -> Path | None:
        """Return the file that a task was read from; None for a task that is not the domain's."""
        return self._files.get(task.id)

    @property
    def _folder(self) -> Path:
        return self._place.parent if self._place.is_file() else self._place

    @property
    def _tasks(self) -> list[Task]:
        return self._by_values[0]

    @property
    def paths(self) -> set[Path]:
        """The files that the tasks were read from."""
        _ = self._tasks
        return set(self._files.values())

    @property
    def not_carried_over(self) -> dict[str, str]:
        """The tasks of the files that cannot be as they are with the domain's values, by id: why."""
        return self._by_values[1]

    @functools.cached_property
    def _by_values(self) -> tuple[list[Task], dict[str, str]]:
        made = self._carry_over(self._in_files())
        tasks = [task for task in made.values() if not isinstance(task, str)]
        return tasks, {name: why for name, why in made.items() if isinstance(why, str)}

    def _in_files(self) -> list[Task]:
        files = _task_files(self._place)
        if not files:
            raise ConfigurationError(f"no task files of domain {self._name!r} in {self._place}")
        tasks: list[Task] = []
        for file in files:
            content = load_task_file(file)
            if content.domain not in (None, self._name, self._other_name):
                problem = (
                    f"names the domain {content.domain!r}, but the file is one of domain {self._name!r}: correct it"
                )
                raise TaskFormatError(problem, file=file, field="domain")
            for task in content.tasks:
                if task.id in self._files:
                    problem = f"{self._files[task.id].name} has a task with this id"
                    raise TaskFormatError(problem, file=file, task_id=task.id, field="id")
                self._files[task.id] = file
                tasks.append(task)
        return tasks


def _task_files(place: Path) -> list[Path]:
    """Return the task files of a domain, in order: a file, or those in a folder.

    A folder ``tasks`` in it has all tasks. Official data has one with a file for each task, next to a ``tasks.json``
    that is out of date. Without it, ``tasks.json`` has all tasks, and other files are subsets of it. Where files are
    named ``*.tau.json``, others are something else, such as the record of recorded tools.
    """
    if place.is_file():
        return [place]
    files = sorted(file for file in (place / "tasks").glob("*.json") if file.name != SPLITS)
    if not files and (place / "tasks.json").is_file():
        return [place / "tasks.json"]
    files = files or sorted(file for file in place.glob("*.json") if file.name != SPLITS)
    return [file for file in files if file.name.endswith(TASK_SUFFIX)] or files


def load_database(folder: Path, stem: str, model: type[Database], *, unique_keys: bool = True) -> Database:
    """Return a database of a domain, from ``<stem>.json`` or ``<stem>.toml``.

    Args:
        folder: The folder of the file.
        stem: The name of the file.
        model: The type of the database.
        unique_keys: Whether a JSON file is searched for objects with a key twice, which takes a third of its time.

    Raises:
        ConfigurationError: There is no such file, it cannot be read, it has an object with a key twice, or it does not
            fit the type; names file and place.
    """
    if not model.in_files:
        model.prepare()
        return model()
    path = folder / f"{stem}.json"
    try:
        if path.is_file():
            return _checked(_from_json(path, model, unique_keys=unique_keys), path)
        path = folder / f"{stem}.toml"
        if not path.is_file():
            raise ConfigurationError(f"{folder}: expected a database, {stem}.json or {stem}.toml")
        return _checked(model.model_validate(read_toml(path)), path)
    except ValidationError as error:
        place, problems = place_and_problems(error, "/", model)
        raise ConfigurationError(f"{path}: {place}: {problems}" if place else f"{path}: {problems}") from None
    except (OSError, DocumentError) as error:
        raise ConfigurationError(f"{path}: {error}") from None


def _from_json(path: Path, model: type[Database], *, unique_keys: bool) -> Database:
    """Return a database from a JSON file.

    Raises:
        DocumentError: It is not UTF-8 or not valid JSON, or has an object with a key twice, of which one would be lost.
        OSError: It cannot be read.
        ValidationError: It does not fit the type.
    """
    with without_collections():
        text = file_text(path.read_bytes())
        if unique_keys:  # pydantic takes the last value without a message
            parse_json(text, unique_keys=True)
        return model.model_validate_json(text)


class UntouchedDatabases:
    """The databases of a domain as they were read, of whose records all environments make their copies.

    Args:
        read: Reads them: the agent-side one, and the user-side one or None.
    """

    def __init__(self, read: Callable[[], tuple[Database, Database | None]]) -> None:
        self._read = read
        self.agent, self.user = read()
        self._content = self._contents()
        self._pause = sum(size for size, _ in self._content) // _EACH_TRIAL
        self._trials, self._problem = 0, ""

    def problem(self) -> str | None:
        """Return what was changed in them, as by a tool that changes what ``scan`` returns; None if nothing was.

        Call it after each trial. After the first ones, it compares large databases after some of them only.
        """
        due = self._trials < _FIRST_TRIALS or self._trials % (self._pause + 1) == 0
        self._trials += 1
        if due and not self._problem and self._contents() != self._content:
            pairs = zip(filter(None, self._read()), self._sides(), strict=True)
            paths = [change.path for first, now in pairs if first.in_files for change in first.changes(now)]
            what = ", ".join(paths[:1]) or "a record"
            self._problem = f"{what} was changed in the data that all simulations share: {_NOT_SHARED}"
        return self._problem or None

    def _sides(self) -> list[Database]:
        return [each for each in (self.agent, self.user) if each is not None]

    def _contents(self) -> list[tuple[int, int]]:
        """Return the sizes and the hashes of the databases that are read from files."""
        contents = (content_of(each) for each in self._sides() if each.in_files)
        return [(len(each), hash(each)) for each in contents]


#: The name of a rule after the sentence that states it, which the agent is not given.
RULE_MARK = re.compile(r"[ \t]*<!-- rule:([^>]*)-->")


@dataclass(frozen=True)
class PolicyFiles:
    """The files of one variant of a policy, joined in order; ``solo`` for an agent that works alone."""

    normal: tuple[str, ...]
    solo: tuple[str, ...] = ()


class DomainPolicies:
    """The variants of a domain's policy, read at first use.

    Args:
        name: The domain's name.
        folder: The folder of the files.
        variants: The files of each variant; the first is the default.
        join: Joins the files' texts.
    """

    def __init__(
        self, name: str, folder: Path, variants: Mapping[str, PolicyFiles], join: Callable[[list[str]], str]
    ) -> None:
        self._name, self._folder, self._variants, self._join = name, folder, variants, join
        self._texts: dict[tuple[str | None, bool], str] = {}

    def files(self, variant: str | None) -> PolicyFiles:
        """Return the files of a variant; None for the default.

        Raises:
            ConfigurationError: No such variant.
        """
        if variant is not None and variant not in self._variants:
            raise ConfigurationError(f"{unknown_name('policy', variant, self._variants)} of domain {self._name!r}")
        return self._variants[variant] if variant is not None else next(iter(self._variants.values()))

    def text(self, variant: str | None, *, solo: bool) -> str:
        """Return the text of a variant; None for the default.

        Raises:
            ConfigurationError: No such variant, or a file cannot be read; names the domain and the file.
        """
        key = (variant, solo)
        if key not in self._texts:
            self._texts[key] = RULE_MARK.sub("", self._join(self.sources(variant, solo=solo)))
        return self._texts[key]

    def sources(self, variant: str | None, *, solo: bool) -> list[str]:
        """Return the texts of the files of a variant; None for the default.

        Raises:
            ConfigurationError: No such variant, or a file cannot be read; names the domain and the file.
        """
        files = self.files(variant)
        return [self._read(self._folder / file) for file in (files.solo if solo else files.normal)]

    def _read(self, file: Path) -> str:
        try:
            return read_text(file)
        except FileNotFoundError:
            problem = f"there is no file {file}: write the text that the agent must follow to it"
        except (OSError, DocumentError) as error:
            problem = f"{file}: cannot be read: {error}"
        raise ConfigurationError(f"policy of domain {self._name!r}: {problem}")


def _checked(database: Database, path: Path) -> Database:
    """Return the database, if each record that carries its id is stored under it.

    Raises:
        ConfigurationError: A key differs; names file, table, key and field.
    """
    for table, key, id_field, value in database.misplaced_records():
        raise ConfigurationError(f"{path}: {table}/{key}: the key differs from {id_field} {value!r}: make them equal")
    return database
