"""The plugin as the commands of ``tau`` see it, which do not import it: they ask pytest for it by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .capabilities import capabilities_of
from .options import named_domains, option_groups, run_options

if TYPE_CHECKING:
    import pytest

    from ..capability import Capability
    from ..environment import DomainSpec
    from ..evaluation import Evaluator
    from ..settings import Option


def provided(
    config: pytest.Config,
) -> tuple[dict[str, DomainSpec], tuple[Evaluator, ...], tuple[str, ...], tuple[Capability, ...]]:
    """Return what plugins and settings provide.

    Returns:
        The domains by name, the evaluators, the names of the domains that the settings select, and the capabilities.

    Raises:
        pytest.UsageError: A plugin raised an exception, or returned something else.
    """
    from .hook_calls import domains_of_plugins, evaluators_of_plugins

    found = capabilities_of(config)
    return domains_of_plugins(config), evaluators_of_plugins(config), named_domains(config), found


def schema_of_options(config: pytest.Config) -> dict[str, Any]:
    """Return the JSON Schema of the options."""
    from .options_schema import options_schema

    return options_schema(run_options(config).values())


def groups_of_options(config: pytest.Config) -> dict[str, list[Option]]:
    """Return the options by the title of their group."""
    return option_groups(capabilities_of(config))
