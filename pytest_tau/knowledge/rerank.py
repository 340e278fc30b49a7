"""Rating of documents by a model."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from ..chat import ChatRequest
from ..documents import json_or_none
from ..errors import ModelError
from ..plain import json
from .indexes import Hit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..chat import TrialModels
    from .documents import Documents

#: The model that rates, and the arguments of its calls. Source: τ²-bench v1.0.1.
MODEL, ARGUMENTS = "openai/gpt-5.2", {"reasoning_effort": "low"}
_SYSTEM = (
    "You rate how well a document of a knowledge base helps to answer a query of a customer service agent. Answer with "
    "an integer from 0 (of no use) to 10 (answers the query)."
)
_FORMAT: dict[str, Any] = {
    "type": "json_schema",
    "json_schema": {
        "name": "rating",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {"relevance_score": {"type": "integer", "minimum": 0, "maximum": 10}},
            "required": ["relevance_score"],
            "additionalProperties": False,
        },
    },
}


async def reranked(
    hits: Sequence[Hit],
    query: str,
    documents: Documents,
    models: TrialModels,
    model: str,
    args: Mapping[str, Any],
    least: int,
) -> list[Hit]:
    """Return the hits that a model rates high enough, by rating; those of equal rating in their order.

    Args:
        hits: What a search has found.
        query: The query.
        documents: The knowledge base.
        models: The models of the trial, which record the calls.
        model: The model's name.
        args: Arguments of each call.
        least: The least rating.

    Source: τ²-bench v1.0.1: a document whose rating fails is dropped.
    """

    async def rate(hit: Hit) -> Hit | None:
        document = documents.get(hit.id)
        assert document is not None, hit.id
        text = f"Query: {query}\n\nTitle: {document.title}\n\nDocument:\n{document.content}"
        messages = [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": text}]
        request = ChatRequest(model=model, messages=messages, response_format=_FORMAT, args=dict(args))
        try:
            reply = await models.ask("retrieval", request)
            return Hit(hit.id, float(_rating(reply.text)))
        except ModelError as error:
            if error.kind in ("authentication", "unknown_model", "quota"):
                raise  # every rating would fail: not the agent's fault
            return None

    rated = await asyncio.gather(*(rate(hit) for hit in hits))
    relevant = [hit for hit in rated if hit is not None and hit.score >= least]
    return sorted(relevant, key=lambda hit: -hit.score)


def _rating(text: str) -> int:
    """Return the rating in a reply."""
    answer = json_or_none(text)
    rating = answer.get("relevance_score") if isinstance(answer, dict) else None
    if not isinstance(rating, int) or isinstance(rating, bool):
        raise ModelError(f"expected a relevance_score, got {json.dumps(text)[:80]}", kind="bad_answer")
    return rating
