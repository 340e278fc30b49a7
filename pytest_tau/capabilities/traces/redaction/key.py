"""The key of a run's replacements, kept with the run: the same originals have the same replacements."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING, Final

from ....errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

#: The file of a run's folder, or what is added to the name of a run's file.
KEY: Final = "redaction.key"
_BYTES: Final = 32


def key_of(run: Path) -> tuple[bytes, str]:
    """Return the key of a run, made by the first call; and a note if it cannot be kept.

    Raises:
        ConfigurationError: The file has something else than a key.
    """
    file = run / KEY if run.is_dir() else run.with_name(f"{run.name}.{KEY}")
    try:
        new_key = secrets.token_hex(_BYTES)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as new:
            new.write(f"{new_key}\n")
        return bytes.fromhex(new_key), ""
    except FileExistsError:
        pass
    except OSError as error:
        return bytes.fromhex(new_key), f"{file}: {error.strerror}; the next call replaces by other values"
    try:
        key = bytes.fromhex(file.read_text(encoding="ascii"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{file}: not a key of replacements ({error}); remove it to make a new one") from None
    if len(key) != _BYTES:
        raise ConfigurationError(f"{file}: not a key of replacements; remove it to make a new one")
    return key, ""
