"""Tasks that are known to fail are expected to fail until a date: ``--tau-quarantine FILE``."""

from __future__ import annotations

from pathlib import Path

from ...capability import Capability, declared, deferred, option


@declared(frozen=True)
class QuarantineSettings:
    """The settings.

    Attributes:
        quarantine: The file.
    """

    quarantine: Path | None = option(
        Path,
        "session",
        "FILE",
        path=True,
        rerun=0,
        help="expect the tasks in this TOML file to fail, each until its expiry date",
    )


capability = Capability(
    name="quarantine", settings=QuarantineSettings, hooks=deferred(f"{__name__}.plugin:make_quarantine")
)
