"""The changes since the last release, from the fragments in changelog/."""

# ruff: noqa: INP001 - a script

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "changelog"
TYPES = {"feature": "New", "fix": "Fixed", "scoring": "Changes of rewards", "misc": "Other changes"}


def fragments() -> list[Path]:
    """Return the fragments, by their numbers."""
    found = [path for kind in TYPES for path in FOLDER.glob(f"*.{kind}.md")]
    return sorted(found, key=lambda path: int(path.name.partition(".")[0]))


def section(title: str) -> str:
    """Return the changes below a title, by their type."""
    parts = [f"## {title}"]
    for kind, heading in TYPES.items():
        texts = [as_list(path.read_text("utf-8").strip()) for path in fragments() if path.name.endswith(f".{kind}.md")]
        parts += [f"### {heading}", "\n".join(texts)] if texts else []
    return "\n\n".join(parts) + "\n"


def as_list(fragment: str) -> str:
    """Return a fragment as a list, indented by four spaces, which Python-Markdown needs."""
    if not fragment.startswith("- "):
        fragment = "- " + fragment.replace("\n", "\n  ")
    return re.sub(r"^  (?=\S)", "    ", fragment, flags=re.MULTILINE)
