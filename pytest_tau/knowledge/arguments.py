"""The arguments of retrieval variants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import ConfigurationError, unknown_name

if TYPE_CHECKING:
    from collections.abc import Mapping


class RetrievalArguments(BaseModel):
    """Arguments of a retrieval variant; one that the variant does not need has no effect.

    Attributes:
        top_k: The most documents of a search, for all tools but grep.
        grep_top_k: The most documents of grep.
        case_sensitive: Whether grep distinguishes upper and lower case.
        reranker_min_score: The least rating, from 0 to 10, with which a document is kept.
        embedding_model: The embedding model, by its litellm name; None for that of the variant.
        embedding_args: Arguments of its calls.
        reranker_model: The model that rates documents, by its litellm name; None for the usual one.
        reranker_args: Arguments of its calls.

    Source: τ²-bench v1.0.1, the first four and their defaults.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    top_k: int = Field(10, ge=1, le=1000)
    grep_top_k: int = Field(10, ge=1, le=1000)
    case_sensitive: bool = False
    reranker_min_score: int = Field(5, ge=0, le=10)
    embedding_model: str | None = None
    embedding_args: dict[str, Any] = Field(default_factory=dict)
    reranker_model: str | None = None
    reranker_args: dict[str, Any] = Field(default_factory=dict)


def parse_arguments(args: Mapping[str, Any]) -> RetrievalArguments:
    """Return checked arguments.

    Raises:
        ConfigurationError: An unknown name, or a value that does not fit; names it.
    """
    try:
        return RetrievalArguments.model_validate(dict(args))
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        if first["type"] == "extra_forbidden":
            known = RetrievalArguments.model_fields
            raise ConfigurationError(unknown_name("retrieval argument", name, known)) from None
        raise ConfigurationError(f"retrieval argument {name!r}: {first['msg']}, got {first['input']!r}") from None
