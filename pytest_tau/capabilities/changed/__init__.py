"""Only the tasks that have to do with what has changed since a stored run: ``--tau-changed-since RUN``."""

from __future__ import annotations

from ...capability import Capability, declared, deferred, option, real, text


@declared(frozen=True)
class ChangedSettings:
    """The settings.

    Attributes:
        changed_since: The stored run, as it was named.
        changed_rest: The share of the other tasks that is run.
    """

    changed_since: str | None = option(
        text,
        "selection",
        "RUN",
        path=True,
        selects=True,
        rerun=0,
        help="run only the tasks that have to do with what has changed since this stored run (tools, policy, "
        "documents, tasks, settings), and a random part of the others",
    )
    changed_rest: float = option(
        real(0),
        "selection",
        "SHARE",
        default=0.1,
        selects=True,
        rerun=0,
        example="0.1",
        help="with --tau-changed-since, the share of the other tasks that is run as well, from 0 to 1, drawn by "
        "--tau-seed (default: %(default)s)",
    )


capability = Capability(name="changed", settings=ChangedSettings, hooks=deferred(f"{__name__}.plugin:make_changed"))
