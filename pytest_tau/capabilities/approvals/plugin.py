"""The model of an approver that is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

    from ...chat import Role
    from ...runner import ModelChoice
    from . import ApprovalSettings


class ApprovalHooks:
    """The hooks of a run.

    Args:
        config: pytest's configuration.
        settings: The settings.
    """

    def __init__(self, config: pytest.Config, settings: ApprovalSettings) -> None:
        del config
        self._model = settings.approver_llm

    def pytest_tau_models(self) -> dict[Role, ModelChoice]:
        """Return the approver's model."""
        if self._model is None:
            return {}
        # Every run of trials imports this module.
        from ...chat import ModelArguments, with_defaults
        from ...runner import ModelChoice

        return {"approver": ModelChoice(self._model, ModelArguments(with_defaults(self._model, {})))}
