"""Write the tasks of ``retail-approvals``, which are made of those of ``retail``."""  # noqa: INP001

from __future__ import annotations

from pathlib import Path

import pytest_tau
from pytest_tau_domains.retail.tasks.lead import bundled_files

FOLDER = Path(__file__).parents[1] / "tasks" / "retail_approvals"


def main() -> None:
    """Write the files."""
    tasks, spec = pytest_tau.load_domain("retail").tasks(), pytest_tau.load_domain("retail-approvals").spec
    for name, text in bundled_files(tasks, spec).items():
        FOLDER.joinpath(name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
