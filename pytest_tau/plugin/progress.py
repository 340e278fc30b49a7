"""A line at the terminal while trials are waited for; nothing where output is not watched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

_SAVE, _RESTORE, _ERASE = "\x1b7", "\x1b8", "\x1b[K"


class Progress:
    """Shows a text after whatever the terminal's line has on it, and takes it away again.

    Args:
        config: pytest's configuration.
    """

    def __init__(self, config: pytest.Config) -> None:
        reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
        watched = reporter is not None and reporter.isatty and config.get_verbosity() >= 0
        self._writer = reporter._tw if watched else None  # noqa: SLF001 - the line is pytest's
        self._shown = ""

    def show(self, text: str) -> None:
        """Show the text, as far as the line has room for it."""
        if self._writer is None or text == self._shown:
            return
        room = self._writer.fullwidth - self._writer.width_of_current_line - 4
        self._write(f"{_SAVE}{_ERASE}  {text[: max(room, 0)]}{_RESTORE}")
        self._shown = text

    def clear(self) -> None:
        """Take it away."""
        if self._shown:
            self._write(_ERASE)
            self._shown = ""

    def _write(self, text: str) -> None:
        # Past the terminal writer, which would count the text as part of the line.
        self._writer._file.write(text)  # type: ignore[union-attr]  # noqa: SLF001
        self._writer._file.flush()  # type: ignore[union-attr]  # noqa: SLF001
