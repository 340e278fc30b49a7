"""Lookup of installed domains by entry point."""

from __future__ import annotations

import functools
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import ConfigurationError, unknown_name

if TYPE_CHECKING:
    from .environment import Domain, DomainSpec

#: Distributions announce a domain under this entry point group: ``name = "module:domain_spec"``.
ENTRY_POINT_GROUP = "pytest_tau.domains"


def domain_names() -> list[str]:
    """Return the names of all installed domains, sorted; nothing is imported."""
    return sorted({entry.name for entry in entry_points(group=ENTRY_POINT_GROUP)})


def load_domain(name: str, data_dir: Path | str | None = None) -> Domain:
    """Return an installed domain, loaded once a process.

    Args:
        name: The domain's name.
        data_dir: A folder laid out as τ²-bench's ``data/tau2``; None for the bundled data.

    Raises:
        ConfigurationError: No such domain, or the folder lacks it.
    """
    return _load(name, None if data_dir is None else Path(data_dir).resolve())


@functools.cache
def _load(name: str, data_dir: Path | None) -> Domain:
    return domain_spec(name).load(data_dir)


def domain_spec(name: str) -> DomainSpec:
    """Return the declaration of an installed domain.

    Raises:
        ConfigurationError: No such domain.
    """
    for entry in entry_points(group=ENTRY_POINT_GROUP):
        if entry.name == name:
            spec: DomainSpec = entry.load()
            return spec
    problem = unknown_name("domain", name, domain_names())
    raise ConfigurationError(f"{problem}; for a domain that is not installed, call load() of its DomainSpec")
