"""Embeddings over litellm, with the retries, limits and prices of chat calls."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ...chat import ChatReply, Usage
from ...chat.faults import build_model_error
from ...chat.prices import OWN_PRICES
from .client import load
from .model import LiteLLM
from .prices import cost

if TYPE_CHECKING:
    from ...chat import ChatRequest


class LiteLLMEmbeddings(LiteLLM):
    """Answers a request with the embeddings of its messages: a JSON array with a list of numbers for each."""

    async def _send(self, request: ChatRequest, prepared: dict[str, Any], limit: float) -> Any:
        texts = [message["content"] for message in request.messages]
        args = {name: value for name, value in request.args.items() if name not in OWN_PRICES}
        # As numbers, not as base64: not every server has both.
        call = {"encoding_format": "float", **args, "timeout": limit, "num_retries": 0, "max_retries": 0}
        return await load().aembedding(model=request.model, input=texts, drop_params=True, **call, **prepared)

    def _reply(self, response: Any, request: ChatRequest, seconds: float) -> ChatReply:
        try:
            found = sorted(response.data, key=lambda each: int(each["index"]))
            vectors = [[float(number) for number in each["embedding"]] for each in found]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise build_model_error("bad_answer", request, message="an answer without embeddings") from error
        tokens = getattr(getattr(response, "usage", None), "prompt_tokens", None) or 0
        usage = Usage(prompt_tokens=tokens) if tokens else None
        return ChatReply(
            message={"role": "assistant", "content": json.dumps(vectors)},
            usage=usage,
            cost=cost(response, request, usage, self._options.prices) if usage else None,
            seconds=seconds,
            model=getattr(response, "model", None) or None,
        )
