"""Loading of a reviewer by its specification."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ConfigurationError, unknown_name
from ...participants import load_object
from .reviewer import LazyReviewer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

    from .reviewer import Reviewer


def load_reviewer(spec: str | None, folder: Path, model: str | None, option: str) -> Reviewer | LazyReviewer:
    """Return the reviewer that is named.

    Args:
        spec: ``llm``, ``module:attribute`` or ``path/to/file.py:attribute``: a function of a ``ReviewCase``, an object
            with a method ``review``, or a class of such, which is built. None for ``llm``.
        folder: What relative paths and modules are looked up in.
        model: The name of the reviewer's model; None if there is none.
        option: The options that name a model, or a reviewer, for errors: ``--judge-llm MODEL or --judge``.

    Raises:
        ConfigurationError: There is no reviewer of this name, it cannot be created, or it is not a reviewer.
    """
    if spec in (None, "llm"):
        if model is None:
            raise ConfigurationError(f"a review needs a reviewer: add {option} SPEC")
        return LazyReviewer(model)
    assert spec is not None
    if ":" not in spec:
        raise ConfigurationError(unknown_name("reviewer", spec, ["llm", "module:attribute"]))
    found = load_object(spec, "reviewer", folder)
    try:
        made = found() if isinstance(found, type) else found
    except Exception as error:
        # A foreign reviewer's constructor may raise anything.
        raise ConfigurationError(f"reviewer {spec!r} cannot be created: {type(error).__name__}: {error}") from error
    if callable(getattr(made, "review", None)):
        return _Named(getattr(made, "name", None) or spec, made.review)
    if callable(made):
        return _Named(spec, made)
    raise ConfigurationError(
        f"reviewer {spec!r}: expected a function of a case, or an object with a method review(case)"
    )


class _Named:
    """A reviewer of one's own, with a name."""

    def __init__(self, name: str, review: Callable[[Any], Any]) -> None:
        self.name, self.review = name, review
