"""What a browser lets a page do: its own style and script, and nothing else."""

from __future__ import annotations

import base64
import hashlib


def content_policy(style: str, script: str | None = None) -> str:
    """Return the content security policy of a page.

    Args:
        style: The text of its style.
        script: The text of its script; None if it has none.
    """
    allowed = {"default-src": "'none'", "style-src": _hash(style)}
    allowed |= {"script-src": _hash(script)} if script is not None else {}
    # A player of a capability may play a file next to the page.
    allowed |= {"media-src": "'self'"} if script is not None else {}
    allowed |= {"base-uri": "'none'", "form-action": "'none'", "img-src": "data:"}
    allowed |= {"require-trusted-types-for": "'script'", "trusted-types": "'none'"}
    return "; ".join(f"{name} {value}" for name, value in allowed.items())


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
