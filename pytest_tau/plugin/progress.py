"""A line at the terminal while trials are waited for; nothing where output is not watched."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

_ERASE_BELOW, _UP = "\x1b[J", "\x1b[A"


class Progress:
    """Shows a text below the terminal's line, and takes it away again.

    Args:
        config: pytest's configuration.
    """

    def __init__(self, config: pytest.Config) -> None:
        reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
        watched = reporter is not None and reporter.isatty and config.get_verbosity() >= 0
        # A terminal that calls itself dumb would print what moves the cursor.
        self._writer = reporter._tw if watched and os.environ.get("TERM") != "dumb" else None  # noqa: SLF001
        self._shown = ""

    def show(self, text: str) -> None:
        """Show the text, as far as a line has room for it."""
        if self._writer is None or text == self._shown:
            return
        # Back to where pytest goes on with its line; a line further down, the terminal may have scrolled by one.
        column = self._writer.width_of_current_line + 1
        self._write(f"\n{_ERASE_BELOW}{text[: self._writer.fullwidth - 1]}{_UP}\r\x1b[{column}G")
        self._shown = text

    def clear(self) -> None:
        """Take it away."""
        if self._shown:
            self._write(_ERASE_BELOW)
            self._shown = ""

    def _write(self, text: str) -> None:
        # Past the terminal writer, which would count the text as part of the line.
        self._writer._file.write(text)  # type: ignore[union-attr]  # noqa: SLF001
        self._writer._file.flush()  # type: ignore[union-attr]  # noqa: SLF001
