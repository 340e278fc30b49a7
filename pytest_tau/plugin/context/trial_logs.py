"""The log records of trials: kept apart while trials run in other threads, and added to the log of their test."""

from __future__ import annotations

import contextlib
import contextvars
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: The records of the trial whose code is running.
_RECORDS: contextvars.ContextVar[list[logging.LogRecord] | None] = contextvars.ContextVar("tau_records", default=None)


class TrialLogs(logging.Handler):
    """Collects the records of running trials, which would otherwise be those of any test that runs at the time.

    Args:
        find: Returns the handlers of pytest that collect the records of the test that runs, once pytest has made them.
    """

    def __init__(self, find: Callable[[], Sequence[logging.Handler]]) -> None:
        super().__init__()
        self._find = find
        self._handlers: Sequence[logging.Handler] = ()

    def attach(self) -> None:
        """Begin to collect records, if pytest does; before the first trial."""
        if self._handlers:
            return
        self._handlers = self._find()
        for handler in self._handlers:
            handler.addFilter(_is_of_no_trial)
        if self._handlers:
            logging.getLogger().addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record of a trial."""
        records = _RECORDS.get()
        if records is not None:
            records.append(record)

    @contextlib.contextmanager
    def collecting(self, records: list[logging.LogRecord]) -> Iterator[None]:
        """Have the code that runs meanwhile, with its tasks and threads, add its records to a list."""
        token = _RECORDS.set(records)
        try:
            yield
        finally:
            _RECORDS.reset(token)

    def add_to_test(self, records: list[logging.LogRecord]) -> None:
        """Add the records of a trial to the test that runs now."""
        for handler in self._handlers:
            for record in records:
                if record.levelno >= handler.level:
                    handler.handle(record)
        records.clear()

    def close(self) -> None:
        """Leave logging as it was."""
        logging.getLogger().removeHandler(self)
        for handler in self._handlers:
            handler.removeFilter(_is_of_no_trial)
        super().close()


def _is_of_no_trial(record: logging.LogRecord) -> bool:
    """Return whether a record is not that of a running trial."""
    del record
    return _RECORDS.get() is None
