"""An edition: other values of a domain's policy, and the tasks that carry over."""

from __future__ import annotations

import functools
import random
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ...documents import DocumentError, read_toml
from ...environment import failed_action, filled, flat_values, shared_reference
from ...errors import ConfigurationError, TaskFormatError, unknown_name
from ...lint import check_solvable
from ...references import breaches_in, carried_out

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...environment import Domain, DomainSpec, Values
    from ...models import Task
    from . import EditionSettings

_OFFICIAL = Path(__file__).parent / "official"
_KEYS = ("values", "domain", "folder", "descriptions")


class Edition(NamedTuple):
    """What an edition changes.

    Attributes:
        values: The new values by name.
        source: Where they are from, for errors.
        domain: The domain that it is of; None for any.
        folder: The folder of official data that have these values; empty for none.
        descriptions: Other descriptions of the agent's tools, and of their parameters as ``tool.parameter``.
    """

    values: Mapping[str, object]
    source: str
    domain: str | None = None
    folder: str = ""
    descriptions: Mapping[str, str] = MappingProxyType({})


def in_edition(settings: EditionSettings, spec: DomainSpec, data_dir: Path | None) -> DomainSpec:
    """Return the declaration of a domain in the edition of a run.

    Args:
        settings: The settings of the run.
        spec: The declaration.
        data_dir: The folder of ``--tau-data``.

    Raises:
        ConfigurationError: The domain has no values, or the edition is not one of it.
    """
    name = settings.edition
    if name is None:
        return spec
    edition = edition_of(name, spec)
    if edition.domain not in (None, spec.name):
        raise ConfigurationError(f"{edition.source}: an edition of domain {edition.domain!r}, not of {spec.name!r}")
    if data_dir is not None and not edition.folder:
        raise ConfigurationError(
            f"--tau-edition {name}: the policy of --tau-data states its values itself: "
            f"name an edition that has such data ({', '.join(official_names())}), or remove --tau-data"
        )
    varied = with_edition(spec, edition.values, edition.source)
    if edition.descriptions:
        tools = spec.agent_tools.tools()
        known = [*tools, *(f"{tool.name}.{name}" for tool in tools.values() for name in tool.parameters["properties"])]
        if unknown := [name for name in edition.descriptions if name not in known]:
            problem = unknown_name("tool or parameter", unknown[0], known)
            raise ConfigurationError(f"{edition.source}: descriptions: {problem}")
        varied = replace(varied, agent_tools=varied.agent_tools.with_descriptions(edition.descriptions))
    return varied if data_dir is None else replace(varied, data_name=edition.folder)


def with_edition(spec: DomainSpec, changes: Mapping[str, object], source: str = "") -> DomainSpec:
    """Return the declaration of a domain with other values, without the tasks that do not carry over.

    Raises:
        ConfigurationError: A value is unknown or out of its range.
    """
    varied = spec.with_values(spec.values.with_changes(changes, source))
    return replace(varied, make_tasks=functools.partial(_sound_tasks, make=spec.make_tasks), generate=None)


def official_names() -> list[str]:
    """Return the names of the editions that official data have."""
    return sorted(path.stem for path in _OFFICIAL.glob("*.toml"))


def edition_of(name: str, spec: DomainSpec) -> Edition:
    """Return the edition that a seed, a name or a path means.

    Raises:
        ConfigurationError: The domain has no values, there is no such edition, or its file has another form.
    """
    if not spec.values:
        problem = "declares no values: there is nothing that an edition of it could change"
        raise ConfigurationError(f"--tau-edition {name}: domain {spec.name!r} {problem}")
    if name.isdecimal():
        return Edition(seeded(spec.values, int(name)), f"--tau-edition {name}")
    path = _OFFICIAL / f"{name}.toml" if name in official_names() else Path(name)
    if not path.is_file():
        problem = unknown_name("edition", name, official_names())
        raise ConfigurationError(f"--tau-edition: {problem}, or a seed, or a TOML file of values")
    return _read(path)


def _read(path: Path) -> Edition:
    try:
        content = read_toml(path)
    except (OSError, DocumentError) as error:
        raise ConfigurationError(f"{path}: cannot be read: {error}") from None
    unknown = [key for key in content if key not in _KEYS]
    if unknown or not isinstance(content.get("values"), dict):
        problem = f"unknown key {unknown[0]!r}" if unknown else "there is no table [values]"
        raise ConfigurationError(f"{path}: {problem}: expected [values], with lines such as 'extra_bag_fee = 65'")
    return Edition(
        flat_values(content["values"]),
        str(path),
        content.get("domain"),
        content.get("folder", ""),
        content.get("descriptions", {}),
    )


def seeded(values: Values, seed: int) -> dict[str, object]:
    """Return a new value for each name, the same ones for each seed."""
    chance = random.Random(f"edition {seed}")  # noqa: S311 - no secret
    return {name: chance.choice(each.becomes) for name, each in values.declared.items() if each.becomes}


def _sound_tasks(domain: Domain, tasks: Sequence[Task], make: Any = None) -> dict[str, Task | str]:
    """Return the tasks by id as they are in the edition, or why they do not carry over."""
    values = domain.spec.values
    made = make(domain, tasks) if make else {task.id: filled(task, values) for task in tasks}
    return {
        name: _problem_of(task, domain) or task if not isinstance(task, str) else task for name, task in made.items()
    }


def _problem_of(task: Task, domain: Domain) -> str | None:
    """Return why a task does not carry over: an action or gold fails, doing nothing passes, or gold breaks a rule."""
    try:
        shared_reference(domain, task)
        if failed := failed_action(domain, task):
            return f"reference action {failed.position} fails: {failed.text}"
        errors = [found.text for found in check_solvable(task, domain) if found.severity == "error"]
    except (ConfigurationError, TaskFormatError) as error:
        return str(error)
    if errors:
        return errors[0]
    breach = next(iter(breaches_in(carried_out(task, domain), task, domain)), None)
    return None if breach is None else f"the reference breaks the rule {breach.rule}: {breach.evidence}"
