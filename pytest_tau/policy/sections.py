"""The sections of a policy that is written in Markdown."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
#: The name of the text before the first heading.
BEGINNING = "(beginning)"


def policy_sections(policy: str) -> dict[str, str]:
    """Return the sections of a policy in Markdown by heading; the second of one name is ``name (2)``."""
    sections: dict[str, str] = {}
    seen: Counter[str] = Counter()
    starts = [(heading.start(), heading[1]) for heading in _HEADING.finditer(policy)]
    bounds = [(0, BEGINNING), *starts, (len(policy), "")]
    for (start, name), (end, _) in pairwise(bounds):
        text = policy[start:end].strip()
        if text:
            seen[name] += 1
            sections[name if seen[name] == 1 else f"{name} ({seen[name]})"] = " ".join(text.split())
    return sections
