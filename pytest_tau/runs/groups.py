"""Groups of trials: what is pooled as the trials of one task, and which tests are variants of each other.

Trials are pooled only if they have the same test, the same parameters, the same domain and the same task. Everything
that counts trials per task uses the groups of this module.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from ..capability import counted_apart
from ..files import item_id
from ..text import by_numbers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

#: The id of the trial among those of a test's parameters.
_TRIAL = re.compile(r"(?:^|-)trial-\d+(?=-|$)")
_TASK_FILE = ".json"
#: The name of the items of task files and domains among test functions.
_ITEMS = "task items"


class TaskId(NamedTuple):
    """The identity of a task: an id is unique within a domain, or within a task file.

    Attributes:
        domain: The domain's name.
        file: The task file; empty for a task of the domain.
        task_id: The id.
    """

    domain: str
    file: str
    task_id: str


class Variant(NamedTuple):
    """A test with its parameters.

    Attributes:
        test: The node id of the test function, without parameters; empty for the items of task files and domains.
        parameters: The ids of the parameters, without those of task and trial.
    """

    test: str
    parameters: str


class Group(NamedTuple):
    """The identity of trials that are pooled.

    Attributes:
        test: The node id of the test function, without parameters; of a task file's items the file; empty for the items
            of a domain, and if the test is not known.
        parameters: The ids of the parameters, without those of task and trial.
        domain: The domain's name.
        task_id: The task's id.
    """

    test: str
    parameters: str
    domain: str
    task_id: str

    @classmethod
    def of(cls, node_id: str, domain: str, task_id: str) -> Group:
        """Return the group of a trial.

        Args:
            node_id: The node id of its test; empty if it is not known.
            domain: The domain's name.
            task_id: The task's id.
        """
        path, _, name = node_id.partition("::")
        head, _, inside = name.partition("[")
        if not (path.endswith(_TASK_FILE) or path == domain or not name):
            return cls(f"{path}::{head}", _without_trial(inside.removesuffix("]"), item_id(task_id)), domain, task_id)
        if name.startswith(f"{task_id}["):  # an id with a bracket in it
            inside = name[len(task_id) + 1 :]
        return cls(
            path if path.endswith(_TASK_FILE) else "", _without_trial(inside.removesuffix("]"), ""), domain, task_id
        )

    @property
    def apart(self) -> str:
        """Return the beginning of the parameter that makes the trials count apart; empty if none does."""
        return next((prefix for prefix in counted_apart() if f"-{prefix}" in f"-{self.parameters}"), "")

    def trial(self, number: int) -> str:
        """Return the name of one of the trials, with the parameters that distinguish it from other variants."""
        return f"{self.task_id} trial {number}" + (f" [{self.parameters}]" if self.parameters else "")

    @property
    def task(self) -> TaskId:
        """Return the task, which other tests may run as well."""
        return TaskId(self.domain, self.test if self.test.endswith(_TASK_FILE) else "", self.task_id)

    @property
    def variant(self) -> Variant:
        """Return the test and its parameters."""
        return Variant("" if self.test.endswith(_TASK_FILE) else self.test, self.parameters)


def _without_trial(ids: str, item: str) -> str:
    """Return ids of parameters without that of the trial, and without that of the task, which precedes it."""
    matches = list(_TRIAL.finditer(ids))
    if not matches:
        return ids
    fitting = [match for match in matches if item and f"-{ids[: match.start()]}".endswith(f"-{item}")]
    trial = fitting[0] if fitting else matches[-1]
    before, after = ids[: trial.start()], ids[trial.end() + 1 :]
    if fitting:
        before = before[: -len(item)].rstrip("-") if before != item else ""
    return "-".join(part for part in (before, after) if part)


def find_variants(groups: Iterable[Group]) -> dict[Variant, str]:
    """Return the variants that groups belong to, in order of their names, each with its name; empty if there is one.

    Tests are variants of each other if they run the same task, or if they are one test with different parameters.
    Tests that have no task in common are parts of a whole.

    Args:
        groups: The groups of a run, or of one of its domains.
    """
    parameters: dict[str, set[str]] = defaultdict(set)
    tasks: dict[TaskId, set[Variant]] = defaultdict(set)
    for group in set(groups):
        parameters[group.variant.test].add(group.parameters)
        tasks[group.task].add(group.variant)
    if max(map(len, parameters.values()), default=0) < 2 and max(map(len, tasks.values()), default=0) < 2:
        return {}
    variants = {variant for task_variants in tasks.values() for variant in task_variants}
    names = _named(variants)
    return dict(sorted(names.items(), key=lambda pair: (by_numbers(pair[1]), pair[0])))


def _named(variants: Iterable[Variant]) -> dict[Variant, str]:
    """Return short names: the parameters, after the test if there are several tests."""
    all_variants = list(variants)
    tests = {variant.test for variant in all_variants}
    apart = next(
        (
            prefix
            for prefix in counted_apart()
            if any(f"-{prefix}" in f"-{variant.parameters}" for variant in all_variants)
        ),
        "",
    )
    none = f"(no {apart.rstrip('.') or 'parameters'})"
    if len(tests) == 1:
        return {variant: variant.parameters or none for variant in all_variants}
    short = {test: test.rpartition("::")[2] or _ITEMS for test in tests}
    seen = Counter(short.values())
    names = {test: name if seen[name] == 1 else test for test, name in short.items()}
    return {
        variant: names[variant.test] + (f"[{variant.parameters}]" if variant.parameters else "")
        for variant in all_variants
    }


def split_variants(groups: Iterable[Group]) -> dict[str, list[Group]]:
    """Return the groups of each variant by its name; all of them by an empty name if there are no variants."""
    all_groups = list(groups)
    names = find_variants(all_groups)
    if not names:
        return {"": all_groups}
    split: dict[str, list[Group]] = {name: [] for name in names.values()}
    for group in all_groups:
        split[names[group.variant]].append(group)
    return split


def distinguish(groups: Iterable[Group]) -> dict[Group, str]:
    """Return what distinguishes each group from others with the same domain and task id.

    Returns:
        The name of the variant and the task file, as far as they differ; empty for a task that only one group has.
    """
    alike: dict[tuple[str, str], dict[Group, None]] = defaultdict(dict)
    for group in groups:
        alike[group.domain, group.task_id][group] = None
    names = find_variants(group for look_alikes in alike.values() for group in look_alikes)
    return {group: _difference(group, look_alikes, names) for look_alikes in alike.values() for group in look_alikes}


def _difference(group: Group, others: Collection[Group], names: Mapping[Variant, str]) -> str:
    parts = []
    if len({other.task for other in others}) > 1:
        parts.append(group.task.file or group.domain)
    if len({other.variant for other in others}) > 1:
        parts.append(names.get(group.variant, ""))
    return ", ".join(part for part in parts if part)


def count_tasks(groups: Iterable[Group]) -> int:
    """Return the number of different tasks."""
    return len({group.task for group in groups})


def match_groups(before: Iterable[Group], after: Iterable[Group]) -> dict[Group, Group]:
    """Return the groups of two runs that are compared, the earlier one of each by the later one.

    A group is compared with the same group. A task that has one group in each run is compared also if its test was
    renamed, or is not known.

    Args:
        before: The groups of the earlier run.
        after: The groups of the later run; their order is kept.
    """
    earlier, later = list(dict.fromkeys(before)), list(dict.fromkeys(after))
    known, only = set(earlier), (_single(earlier), _single(later))
    matches = {}
    for group in later:
        key = group.domain, group.task_id
        if group in known:
            matches[group] = group
        elif key in only[0] and key in only[1]:
            matches[group] = only[0][key]
    return matches


def _single(groups: Sequence[Group]) -> dict[tuple[str, str], Group]:
    """Return the groups of the tasks that have one, by domain and task id."""
    counts = Counter((group.domain, group.task_id) for group in groups)
    return {key: group for group in groups if counts[key := (group.domain, group.task_id)] == 1}
