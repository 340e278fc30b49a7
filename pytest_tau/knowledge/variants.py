"""The ways in which an agent accesses documents: the table of retrieval variants, their arguments and prompts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..documents import DocumentError, read_text
from ..errors import ConfigurationError, unknown_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from .documents import Document, Documents


#: The placeholders of a prompt that stand for documents.
FULL, REQUIRED = "full_knowledge_base", "required_documents"

Tool: TypeAlias = Literal["KB_search", "grep", "KB_search_bm25", "KB_search_dense", "shell"]


class Embedding(NamedTuple):
    """The embedding model of a variant.

    Attributes:
        model: Its name for litellm.
        provider: The provider's name in prompts.
        shown: The model's name in prompts.
    """

    model: str
    provider: str
    shown: str


OPENAI = Embedding("openai/text-embedding-3-large", "OpenAI API", "text-embedding-3-large")
QWEN = Embedding("openrouter/qwen/qwen3-embedding-8b", "OpenRouter", "qwen3-embedding-8b")


LOCAL = Embedding("local/sentence-transformers/all-MiniLM-L6-v2", "sentence-transformers", "all-MiniLM-L6-v2")


class Variant(NamedTuple):
    """A retrieval variant.

    Attributes:
        tools: The agent's retrieval tools, in the order in which they are shown.
        prompt: The template of the policy, a file of the prompts' folder without its ending.
        embedding: The model of dense searches; None if there are none.
        rerank: Whether a model rates what ``KB_search`` found.
        writable: Whether the agent may write files with ``shell``.
        documents: The placeholder of the documents that the policy contains; None if it contains none.
    """

    tools: tuple[Tool, ...]
    prompt: str
    embedding: Embedding | None = None
    rerank: bool = False
    writable: bool = False
    documents: str | None = None


def _classic(kind: str, embedding: Embedding | None = None) -> dict[str, Variant]:
    """Return the variants with ``KB_search``: with and without grep, with and without reranking."""
    name = f"{kind}_embeddings" if embedding else kind
    prompt = f"classic_rag_{kind}"
    return {
        f"{name}{reranked}{grep}": Variant(
            ("KB_search", "grep") if grep else ("KB_search",),
            prompt if grep else f"{prompt}_no_grep",
            embedding,
            bool(reranked),
        )
        for reranked in ("", "_reranker")
        for grep in ("", "_grep")
    }


_EVERYTHING: tuple[Tool, ...] = ("KB_search_bm25", "KB_search_dense", "shell")

#: Every variant by its name. Source: τ²-bench v1.0.1, retrieval variants of banking_knowledge, but the local one.
VARIANTS: dict[str, Variant] = {
    **_classic("bm25"),
    "grep_only": Variant(("grep",), "grep_only"),
    "full_kb": Variant((), "full_kb", documents=FULL),
    "golden_retrieval": Variant((), "required_docs", documents=REQUIRED),
    "no_knowledge": Variant((), "no_knowledge"),
    **_classic("openai", OPENAI),
    **_classic("qwen", QWEN),
    "terminal_use": Variant(("shell",), "agentic_search"),
    "terminal_use_write": Variant(("shell",), "agentic_search_write", writable=True),
    "alltools": Variant(_EVERYTHING, "all_tools", OPENAI),
    "alltools-qwen": Variant(_EVERYTHING, "all_tools", QWEN),
    "local_embeddings": Variant(("KB_search", "grep"), "classic_rag", LOCAL),
}

#: The variant of an index of one's own.
OWN_INDEX = Variant(("KB_search", "grep"), "classic_rag")

#: Other names of variants.
ALIASES = {"AllTools": "alltools", "grep": "grep_only"}

DEFAULT_VARIANT = "bm25"


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


_COMPONENT = re.compile(r"\{\{component:(\w+)\}\}")
_DENSE = "{{all_tools_dense_instructions}}"
NO_DOCUMENTS = "(No documents provided)"


def template_of(folder: Path, variant: Variant) -> str:
    """Return the template of a variant's policy with its components in it, without its documents.

    Raises:
        ConfigurationError: A file is missing, or the text is blank.
    """
    path = folder / f"{variant.prompt}.md"
    text = _COMPONENT.sub(lambda match: _read(folder / "components" / f"{match[1]}.md"), _read(path))
    if variant.embedding is not None:
        text = text.replace(
            _DENSE,
            f"The `KB_search_dense` tool uses **{variant.embedding.provider}** with embedding model "
            f"`{variant.embedding.shown}` for dense retrieval.",
        )
    if not text.strip():
        raise ConfigurationError(f"{path}: expected the text of a policy, got a blank file")
    return text


def with_documents(template: str, documents: Documents, placeholder: str | None, required: Iterable[str] | None) -> str:
    """Return a policy with the documents that a variant shows in it.

    Args:
        template: The policy. If it lacks the placeholder, the documents follow its text.
        documents: The knowledge base.
        placeholder: The placeholder of the documents; None if the policy shows none.
        required: The documents that the task requires, by title or id; unknown ones are skipped. None without a task.
    """
    if placeholder is None:
        return template
    if placeholder == FULL:
        text = rendered(documents)
    else:
        required_documents = [documents.find(name) for name in required or ()]
        text = rendered(document for document in required_documents if document is not None) or NO_DOCUMENTS
    mark = f"{{{{{placeholder}}}}}"
    if mark in template:
        return template.replace(mark, text)
    heading = "## Knowledge base" if placeholder == FULL else "## Documents for this task"
    return f"{template.rstrip()}\n\n{heading}\n\n{text}\n"


def rendered(documents: Iterable[Document]) -> str:
    """Return documents as they are in a policy."""
    return "\n\n---\n\n".join(f"## {document.title}\n\n{document.content}" for document in documents)


def _read(path: Path) -> str:
    try:
        return read_text(path)
    except (OSError, DocumentError) as error:
        raise ConfigurationError(f"prompt of the knowledge base: {path}: {error}") from None
