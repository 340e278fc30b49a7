"""Pages without scripts, in the style of the HTML report: one file that contains everything and needs no network."""

from __future__ import annotations

import base64
import hashlib
import html
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ..text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["html_text", "static_page"]


def static_page(kind: str, title: str, body: Iterable[str], *, style: str = "", sections: Sequence[str] = ()) -> str:
    """Return a page as HTML.

    Args:
        kind: What it shows, in a word: its header and the class of its body.
        title: The title.
        body: Its parts, as HTML.
        style: Rules of CSS besides those of the report.
        sections: The sections that the header links to, by the name in lower case.
    """
    style = (files("pytest_tau.reports.html") / "page/page.css").read_text("utf-8") + style
    links = " ".join(f'<a href="#{name.lower()}">{name}</a>' for name in sections)
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{content_policy(style)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">',
        f'<link rel="icon" href="data:,">\n<title>{html_text(title)}</title>\n<style>{style}</style>',
        f'</head>\n<body class="{kind}">',
        f'<header class="top"><p class="brand"><span aria-hidden="true">τ</span> {kind}</p>',
        f"<nav>{links}</nav></header>\n<main>" if links else "</header>\n<main>",
        *body,
        "</main>\n</body>\n</html>\n",
    ]
    return "\n".join(parts)


def html_text(value: Any) -> str:
    """Return a text of others for HTML, with what is not seen as escapes."""
    return html.escape(visible(str(value)))


def content_policy(style: str, script: str | None = None) -> str:
    """Return the content security policy of a page: a browser lets it do nothing but its own style and script.

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
