"""Tracebacks of exceptions of participants: the line of their own code, and what is shown of the whole."""

from __future__ import annotations

import os
import sysconfig
import traceback
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..chat.masking import mask_secrets

if TYPE_CHECKING:
    from types import TracebackType

#: The folder of this package, whose code does not belong to a participant.
_PACKAGE = str(Path(__file__).parents[1]) + os.sep
#: Characters of a traceback that are kept: half of them from its beginning.
_LONGEST = 20_000


def place_of(raised: BaseException) -> str | None:
    """Return the last line of the participant's own code in a traceback, else the last line; None without one.

    Own is what belongs neither to Python's library nor to an installed package.
    """
    frames = [frame for frame in traceback.extract_tb(raised.__traceback__) if not _is_ours(frame.filename)]
    own = [frame for frame in frames if not _is_installed(frame.filename)]
    found = (own or frames)[-1:]
    return f"line {found[0].lineno} of {found[0].filename}" if found else None


def traceback_of(raised: BaseException) -> str | None:
    """Return the traceback of an exception from the participant's own code on; None if it has none of its frames.

    Keys are masked: lines of code and texts of exceptions may have one.
    """
    start = _first(raised.__traceback__, own=True) or _first(raised.__traceback__, own=False)
    if start is None:
        return None
    try:
        text = "".join(traceback.format_exception(type(raised), raised, start))
    except BaseException:  # noqa: BLE001 - code of the participant: the text of an exception may raise anything
        text = "".join(traceback.format_tb(start)) + type(raised).__name__
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]}\n…\n{text[-_LONGEST // 2 :]}"
    return mask_secrets(text.rstrip(), {})


def _first(frames: TracebackType | None, *, own: bool) -> TracebackType | None:
    """Return a traceback from the first frame on that is not of this package, and with ``own`` not installed."""
    while frames is not None:
        file = frames.tb_frame.f_code.co_filename
        if not _is_ours(file) and not (own and _is_installed(file)):
            return frames
        frames = frames.tb_next
    return None


def _is_ours(file: str) -> bool:
    return file.startswith(_PACKAGE)


def _is_installed(file: str) -> bool:
    return file.startswith(("<frozen ", *_installed_folders()))


@cache
def _installed_folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple({paths[name] + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")})
