"""Hooks of MkDocs: pages that are not in docs/, and links that leave it.

The pages are files at the root of the repository, and the reference, which is made from the code.

The same Markdown is read in the repository, where a link to a file of the code works. On the site it is replaced by the
file's path.
"""

# ruff: noqa: INP001 - a script

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent))
import reference
from mkdocs.structure.files import File

import changelog

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
#: Files of the repository that are pages of the site.
PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
_LINK = re.compile(r"\[([^\]]*)\]\((?!\w+:)([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/."""
    for source, page in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        if source == "CHANGELOG.md":
            text = f"{text}\n{changelog.section('Since the last release')}"
        # Links are relative to the root there, and to docs/ on the site.
        files.append(File.generated(config, page, content=_LINK.sub(_from_root, text)))
    for name, text in reference.pages().items():
        if name not in reference.WRITTEN:
            files.append(File.generated(config, f"reference/{name}", content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_others: object) -> str:
    """Replace links that leave docs/ by the paths of their files."""
    folder = posixpath.dirname(page.file.src_uri)

    def replace(link: re.Match[str]) -> str:
        text, target, anchor = link[1], link[2], link[3] or ""
        path = posixpath.normpath(posixpath.join("docs", folder, target))
        if path.startswith("docs/"):
            return link[0]
        if path in PAGES:
            return f"[{text}]({posixpath.relpath(PAGES[path], folder or '.')}{anchor})"
        if not (ROOT / path).exists():
            return link[0]  # MkDocs reports it
        return f"`{path}`" if text.strip("`/") in {path, Path(path).name} else f"{text} (`{path}`)"

    return _LINK.sub(replace, markdown)


def _from_root(link: re.Match[str]) -> str:
    target = link[2].removeprefix("docs/") if link[2].startswith("docs/") else f"../{link[2]}"
    return f"[{link[1]}]({target}{link[3] or ''})"
