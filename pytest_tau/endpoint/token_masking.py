"""Masking of tokens in the log: clients log the addresses that they call, and logs are stored in reports."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from .session import TOKEN_PREFIX, mask_tokens

if TYPE_CHECKING:
    from collections.abc import Callable


def mask_tokens_in_logs() -> None:
    """Mask tokens in all log records of the process from now on; once, however often it is called.

    A filter of a logger does not see the records of the loggers below it, and a handler is the user's.
    """
    factory = logging.getLogRecordFactory()
    if not isinstance(factory, _MaskingFactory):
        logging.setLogRecordFactory(_MaskingFactory(factory))


class _MaskingFactory:
    """Makes log records, without the tokens of trials in their messages."""

    def __init__(self, factory: Callable[..., logging.LogRecord]) -> None:
        self._factory = factory

    def __call__(self, *args: Any, **kwargs: Any) -> logging.LogRecord:
        record = self._factory(*args, **kwargs)
        try:
            message = record.getMessage()
        except Exception:  # noqa: BLE001 - a mistake in a call of the log is reported where the record is written
            return record
        if TOKEN_PREFIX in message:
            record.msg, record.args = mask_tokens(message), ()
        return record
