"""The test item of one trial of one task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ..compat import set_node_id

if TYPE_CHECKING:
    from pathlib import Path

    from pluggy import HookRelay

    from ...models import Task
    from ..items import TaskSpec


def trial(tau_simulation: Any) -> None:
    """Check that the reward is 1: the test function of every task item."""
    from ..run.outcomes import TrialFailed

    if tau_simulation.outcome != "passed":
        raise TrialFailed(tau_simulation)


class TauItem(pytest.Function):
    """One trial of one task.

    Attributes:
        task_spec: The task, its domain, the settings.
        trial: The number of the trial, from 0.
    """

    task_spec: TaskSpec
    trial: int

    def runtest(self) -> None:
        """Run the test; with ``--pdb``, a failure leads to the frame of the agent that has raised an exception."""
        from ..run.outcomes import TrialFailed, at_fault

        try:
            super().runtest()
        except TrialFailed as failure:
            raise at_fault(self, failure) from None

    @classmethod
    def of(cls, spec: TaskSpec, number: int, template: pytest.Function, fixtures: Any) -> TauItem:
        """Return the item of a trial.

        Args:
            spec: The task, its domain, the settings.
            number: The number of the trial, from 0.
            template: The item that pytest made of ``trial``, with parameters.
            fixtures: The fixtures of the item.
        """
        from ...runner import item_id

        call = getattr(template, "callspec", None)
        parts = [*spec.parameters, *([call.id] if call is not None and call.id else []), f"trial-{number}"]
        item: TauItem = cls.from_parent(
            template.parent,
            name=f"{item_id(spec.task.id)}[{'-'.join(parts)}]",
            callobj=trial,
            callspec=call,
            keywords={call.id: True} if call is not None else None,
            fixtureinfo=fixtures,
        )
        set_node_id(item)
        item.task_spec, item.trial = spec, number
        item.add_marker("tau")
        if spec.config.simulation.solo and spec.task.ticket is None:
            item.add_marker(pytest.mark.skip(reason="solo: the task has no ticket"))
        return item

    @property
    def ihook(self) -> HookRelay:
        """Return the hooks of the collector."""
        assert self.parent is not None, "it was collected"
        return self.parent.ihook

    @property
    def task(self) -> Task:
        """Return the task."""
        return self.task_spec.task

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *args: Any, **kwargs: Any) -> Any:
        """Explain the failure, so that pytest does not spend time on a traceback that is not shown."""
        from ..report.failures import represent

        return represent(self, excinfo) or super().repr_failure(excinfo, *args, **kwargs)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the place of the item, for reports; a task has no line of its own."""
        return self.path, 0, self.name
