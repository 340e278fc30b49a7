"""A rule of a policy."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from ..errors import ConfigurationError, hides_frames

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .parts import Breach
    from .trajectory import Trajectory

#: pytest omits the frames of this module from the traceback of a wrong declaration.
__tracebackhide__ = hides_frames

#: What a policy demands before a change: a record is read, the customer verified, or the change stated or confirmed.
Demand: TypeAlias = Literal["read", "verified", "stated", "confirmed"]

_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


@dataclass(frozen=True)
class Rule:
    """A rule of a policy that can be decided from a conversation alone.

    Attributes:
        name: Lower-case words joined by hyphens, such as ``own-records``; part of the gate metric ``policy.<name>``.
        sentence: The sentence of the policy that the rule stands for.
        check: Yields the breaches of a finished conversation.
        needs_dialog: Whether the rule depends on what agent and user say to each other. Such rules are not checked if
            an agent works alone, or only makes the reference calls.
        absolute: Whether the call alone breaks it, in the state before it, whatever was called and said before. A task
            that requires such a call contradicts the policy.
        of_reference: Whether it is checked on reference actions, with the user's scenario as what the user has said. An
            absolute rule is; others are about how an agent comes to its calls, and a reference need not have reads.
        editions: Other editions of the policy that state the rule: for each, the fingerprints of the sentences that do
            (``pytest_tau.policy.fingerprint``). In data with another policy, the rule is checked on reference actions,
            and looked at for what a trial that passed omitted, only if the policy has all sentences of one of these.
        bounded: Whether the check surely ends and waits for nothing, such as one that only loops over the turns and
            calls. Any other check is run in another thread, with a limit of time.
        before_write: What the rule demands before a call that changes something: ``read``, ``verified``, ``stated`` or
            ``confirmed``; None for any other rule. A trial that passes without it was right for the wrong reason.

    Raises:
        ConfigurationError: The name has another form, the sentence is empty, or ``check`` cannot be called.
    """

    name: str
    sentence: str
    check: Callable[[Trajectory], Iterable[Breach]]
    needs_dialog: bool = False
    absolute: bool = False
    bounded: bool = False
    editions: tuple[tuple[str, ...], ...] = ()
    of_reference: bool = False
    before_write: Demand | None = None

    def __post_init__(self) -> None:
        name: Any = self.name
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ConfigurationError(f"rule {name!r}: expected a name of lower-case words joined by hyphens")
        if not isinstance(self.sentence, str) or not self.sentence.strip():
            raise ConfigurationError(f"rule {name!r}: expected the sentence of the policy, got {self.sentence!r}")
        if not callable(self.check):
            raise ConfigurationError(f"rule {name!r}: expected check(trajectory), got {self.check!r}")
        if self.before_write not in (None, *get_args(Demand)):
            known = ", ".join(get_args(Demand))
            raise ConfigurationError(
                f"rule {name!r}: before_write: expected {known} or None, got {self.before_write!r}"
            )


def bounded(rules: Iterable[Rule]) -> list[Rule]:
    """Return rules whose checks surely end and wait for nothing, declared as such."""
    return [replace(rule, bounded=True) for rule in rules]
