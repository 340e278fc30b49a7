"""The built-in reward components, one module each, and the table of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...capability import reward_components
from ..component import PluginReports, RewardComponent, StoredComponent, as_component
from .action import ActionComponent
from .communicate import CommunicateComponent
from .db import DBComponent
from .env_assertion import EnvAssertionComponent
from .nl_assertion import NLAssertionComponent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...models import RewardInfo
    from ..component import Evaluator

#: In the order in which they are checked: assertions may change the databases that they look at.
COMPONENTS: tuple[RewardComponent, ...] = (
    DBComponent(),
    EnvAssertionComponent(),
    ActionComponent(),
    CommunicateComponent(),
    NLAssertionComponent(),
)


def known_components(evaluators: Sequence[Evaluator]) -> list[str]:
    """Return every name that a reward basis may contain."""
    return [component.name for component in [*COMPONENTS, *reward_components(), *map(as_component, evaluators)]]


def components_of(verdict: RewardInfo, evaluators: Sequence[Evaluator] = ()) -> list[RewardComponent]:
    """Return the components that a verdict has checks of: the built-in ones, then those of plugins.

    Args:
        verdict: The verdict on a simulation.
        evaluators: The components of plugins, if available; else their checks are reported without explanation.
    """
    others = [*reward_components(), *evaluators]
    reporting = {
        component.name: PluginReports(component) for component in others if isinstance(component, RewardComponent)
    }
    names = dict.fromkeys(check.name for check in verdict.custom_checks or [])
    return [*COMPONENTS, *(reporting.get(name) or StoredComponent(name) for name in names)]
