"""The setup of a distributed run: of its controller, and of each worker."""

from __future__ import annotations

import pytest

from ..context.run_state import run_state
from ..options import OptionValues
from ..wire import is_worker


def register(config: pytest.Config) -> None:
    """Register what a controller or a worker needs; nothing in a single process.

    Raises:
        pytest.UsageError: There are more workers than concurrent model calls, or workers on other machines cannot
            read the previous run.
    """
    if is_worker(config):
        from . import worker

        worker.register(config)
    elif _distributes(config):
        from . import compat, controller

        specs = compat.worker_specs(config)
        local = all(map(controller.on_this_machine, specs))
        _check_calls(config, len(specs))
        _check_resume(config, local=local)
        controller.register(config, sharers=1 if local else len(specs))


def _distributes(config: pytest.Config) -> bool:
    return getattr(config.option, "dist", "no") != "no" and bool(config.option.tx) and not config.option.collectonly


def _check_calls(config: pytest.Config, workers: int) -> None:
    values = OptionValues(config)
    limits = {"llm_concurrency": [values.get("llm_concurrency")] if values.given("llm_concurrency") else []}
    limits["provider_limit"] = list(values.get("provider_limit").values())
    for name, calls in limits.items():
        if calls and min(calls) < workers:
            problem = f"expected at least {workers}, one call for each worker, got {min(calls)}"
            raise pytest.UsageError(f"{values.label(name)}: {problem}")


def _check_resume(config: pytest.Config, *, local: bool) -> None:
    paths = run_state(config).paths
    if paths.resumes and not local:
        raise pytest.UsageError(f"{paths.resume_label}: workers on other machines cannot read {paths.results}")
