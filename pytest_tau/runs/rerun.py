"""The options of pytest by which another run has the settings of a stored one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..capability.calls import changing_domains, recorded_in
from ..errors import ConfigurationError
from ..plain import json
from ..run_settings import PromptingSettings, settings_that_affect
from ..settings import changed_values, options_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from ..capability import Capability

#: Settings of which a run has recorded the name and a digest of a file.
_NAMED_ONLY = tuple(row.setting for row in options_of(PromptingSettings) if row.path)


def rerun_options(info: Mapping[str, Any], given: Collection[str] = ()) -> list[str]:
    """Return the options by which another run has the settings of a stored one, as far as its trials depend on them.

    Args:
        info: The manifest of the stored run, ``Run.info``.
        given: The options that the other run is given anyway, such as ``--tau-seed``.

    Raises:
        ConfigurationError: A setting is a file, of which only the name is recorded.
    """
    used = {*settings_that_affect("verdict", "agent", "content")}
    used.update(name for capability in recorded_in(info).values() for name in capability.get("settings") or ())
    options: list[str] = []
    for key, value in info.get("settings", {}).items():
        option = f"--tau-{key.replace('_', '-')}"
        if key not in used or option in given:
            continue
        if key not in _NAMED_ONLY:
            options += _with_value(option, value)
        elif value != "built in":
            raise ConfigurationError(f"{option} was {value}, of which only the name is recorded: give the file again")
    return options


def domain_options(info: Mapping[str, Any], capabilities: Iterable[Capability]) -> list[str]:
    """Return the options by which another run has the domains of a stored one, such as its edition.

    Args:
        info: The manifest of the stored run, ``Run.info``.
        capabilities: The capabilities that are known.
    """
    changed = [row for active in changing_domains(info, capabilities) for row in changed_values(active.settings)]
    return [text for row, value in changed for text in _with_value(f"--tau-{row.name}", value)]


def _with_value(option: str, value: Any) -> Iterator[str]:
    if isinstance(value, bool):
        yield from [option] * value
    elif isinstance(value, list):
        yield from (f"{option}={element}" for element in value)
    else:
        yield f"{option}={json.dumps(value) if isinstance(value, dict) else value}"
