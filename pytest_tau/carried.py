"""Headers that a trial sends with each message to an agent outside of this process; models do not get them."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The headers of the trial that is running, by lower-case name, such as ``traceparent``. A program gets them as
#: environment variables in upper case.
carried: ContextVar[Mapping[str, str]] = ContextVar("pytest_tau_carried", default={})  # noqa: B039 - never changed


def carry(headers: Mapping[str, str]) -> None:
    """Send headers with each message of the running trial to an agent outside of this process.

    Args:
        headers: Their values by lower-case name. They go together with those that were added before.
    """
    # A trial has an asynchronous context of its own.
    carried.set({**carried.get(), **headers})
