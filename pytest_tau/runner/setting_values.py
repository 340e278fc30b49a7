"""The values of settings, as ``SimulationSettings.values`` and ``RunConfig.values`` walk over them.

Conditions, comparisons, the header, ``run.json`` and what a run is resumed or continued by follow from these walks and
from what each option affects. A value is read where trials take it from, so that there is no second copy of it.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..chat.requests import public_arguments
from ..files import digest
from ..participants import Prompting
from ..participants.personas import shown_persona
from ..plain import json
from ..run_settings import PromptingSettings
from ..run_settings.types import difficulty, persona, shard
from ..settings import as_json, as_text, json_object, model_arguments, options_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from ..participants import Side
    from ..settings import Option

#: The forms in which values are recorded, by the type of the option.
_RECORDED: dict[Callable[[Any], Any], Callable[[Any], Any]] = {
    json_object: public_arguments,
    model_arguments: public_arguments,
    persona: shown_persona,
    difficulty: asdict,
    shard: lambda part: "/".join(map(str, part)),
}
#: The settings of verdicts that trials have recorded under names of their own, also if they are defaults.
_OTHER_CONDITIONS = frozenset({"policy_variant", "protocol", "grading", "max_steps", "max_errors"})


class SettingValue(NamedTuple):
    """An option and its value."""

    option: Option
    value: Any

    @property
    def is_default(self) -> bool:
        """Return whether the value is the default of the option."""
        return bool(self.value == self.option.default)

    @property
    def recorded(self) -> Any:
        """Return the value as JSON, in the form in which it is recorded: arguments without secrets, a shard as text."""
        record = _RECORDED.get(self.option.type)
        return as_json(self.value if record is None or not self.value else record(self.value))


def values_in(holder: Any, kind: type | None = None) -> Iterator[SettingValue]:
    """Yield the settings that an object holds: those of its class, or of a class whose fields it has, too."""
    return (SettingValue(row, getattr(holder, row.field)) for row in options_of(kind or holder))


def values_of_prompting(prompting: Mapping[Side, Prompting]) -> Iterator[SettingValue]:
    """Yield the settings of how models play the sides: of a prompt its name, of examples their fingerprint, too."""
    sides: dict[str, Prompting] = {side: prompting.get(side, Prompting()) for side in ("agent", "user")}
    for row in options_of(PromptingSettings):
        side, _, name = row.field.partition("_")
        value = getattr(sides[side], "name" if name == "prompt" else name)
        yield SettingValue(row, _named_examples(value) if isinstance(value, Path) else value)


def _named_examples(path: Path) -> str:
    """Return the name of the file or folder with examples, and the fingerprint of the examples."""
    from ..participants.agents.examples import read_examples

    return f"{path.name} {digest(json.dumps(read_examples(path)))}"


def changed_texts(values: Iterable[SettingValue]) -> dict[str, str]:
    """Return those that verdicts depend on and that are not their defaults, by label: ``{"tool faults": "get_*:0.1"}``.

    Without those that have a condition of their own.
    """
    return {
        each.option.label: as_text(each.recorded)
        for each in values
        if each.option.affects == "verdict" and not each.is_default and each.option.key not in _OTHER_CONDITIONS
    }
