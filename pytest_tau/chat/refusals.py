"""The faults that servers report: one table of codes, wordings and statuses, for all clients."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ..documents import json_or_none

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ..errors import ModelFault

#: Faults by codes, types and class names that are more specific than the HTTP status.
_BY_NAME: dict[str, ModelFault] = {
    "context_length_exceeded": "context_window",
    "exceed_context_size_error": "context_window",  # llama.cpp
    "tokens_limit_reached": "context_window",  # GitHub Models
    "ContextWindowExceededError": "context_window",
    "content_filter": "refused",
    "content_policy_violation": "refused",
    "ContentPolicyViolationError": "refused",
    "insufficient_quota": "quota",
    "model_not_found": "unknown_model",
}
#: Faults by wordings of messages, for servers and parts of litellm that give no code.
_BY_WORDS: dict[str, ModelFault] = {
    r"credit balance is too low": "quota",
    r"your input was flagged|\bflagged_input\b": "refused",  # OpenRouter's moderation, with status 403
    r"llm provider not provided": "unknown_model",
    # Messages of openai's client before it sends anything.
    r"missing credentials|client option must be set": "authentication",
}
#: Wordings of a conversation that is too long, with the servers that use them.
_TOO_LONG = (
    r"maximum context length",  # OpenAI, Azure, DeepSeek, Fireworks, Mistral, OpenRouter, SGLang, vLLM
    r"prompt (\(.*\) )?is too long",  # Anthropic, Vertex AI, Fireworks, older vLLM
    r"exceeds? (the )?context (limit|window|length)",  # Anthropic, OpenAI's Responses, llama-cpp-python, Ollama
    r"longer than the (model's context|maximum model) length",  # SGLang, Together, vLLM
    r"input length .*exceeds the maximum allowed",  # SGLang, Poolside
    r"exceeds the available context size|context size has been exceeded",  # llama.cpp
    r"`inputs` must have less than|`inputs` tokens \+ `max_new_tokens` must be",  # TGI, Together
    r"input token count .*(exceeds the maximum|only supports)",  # Gemini, Vertex AI
    r"input is too long for requested model|too many input tokens|number of input tokens exceeds",  # Bedrock
    r"maximum prompt length is",  # xAI
    r"reduce the length of the messages",  # Cerebras, Groq
    r"trying to keep the first|greater than the context length|\bn_keep\b",  # LM Studio
    r"too many tokens: ",  # Cohere; Bedrock's "Too many tokens, please wait" is a limit of the rate
    r"exceeded max context length",  # Ollama
    r"exceeded model token limit",  # Moonshot
    r"context window exceeds limit",  # MiniMax
    r"range of input length should be",  # DashScope
    r"prompt exceeds max length",  # Z.ai
)
#: The tokens of the conversation and those that the answer may have, where a server says what it has added up.
_ADDED_UP = (
    r"\((?P<sent>\d+) in (?:the messages|your prompt)[,;] (?P<answer>\d+) (?:in|for) the completion\)",
    r"\((?P<sent>\d+) of text input,.* (?P<answer>\d+) in the output\)",
    r"context limit: (?P<sent>\d+) \+ (?P<answer>\d+)",
    r"(?P<sent>\d+) `inputs` tokens and (?P<answer>\d+) `max_new_tokens`",
    r"requested (?P<answer>\d+) output tokens and your prompt contains at least (?P<sent>\d+)",
    r"(?P<sent>\d+) tokens from the input messages and (?P<answer>\d+) tokens for the completion",
)
_LONG_ANSWER = r"\bmax_(completion_)?tokens\b\W* is too large"
_BY_STATUS: dict[int, ModelFault] = {
    401: "authentication",
    402: "quota",
    403: "authentication",
    404: "unknown_model",
    408: "timeout",
    409: "unavailable",
    429: "rate_limit",
    503: "overloaded",
    529: "overloaded",
}
#: Where servers have the error, its message, and its codes.
_ERRORS, _MESSAGES, _CODES = ("error",), ("message", "error", "detail"), ("code", "type", "error_type")


class Refusal(NamedTuple):
    """The error in an answer.

    Attributes:
        codes: The codes and types.
        message: The message; with that of the provider behind a router.
    """

    codes: frozenset[str]
    message: str


def read_refusal(answer: Any) -> Refusal:
    """Return the error in an answer: below ``error``, as OpenAI has it, or on top, as other servers have it."""
    if isinstance(answer, list):  # Gemini's compatible API
        answer = answer[0] if answer else None
    if not isinstance(answer, dict):
        return Refusal(frozenset(), answer if isinstance(answer, str) else "")
    inner = answer.get("error")
    details = inner if isinstance(inner, dict) else answer
    texts = [details[name] for name in _MESSAGES if isinstance(details.get(name), str)]
    codes = {str(details[name]) for name in _CODES if details.get(name)}
    metadata = details.get("metadata")
    if not isinstance(metadata, dict):
        return Refusal(frozenset(codes), texts[0] if texts else "")
    if "flagged_input" in metadata:
        codes.add("content_policy_violation")
    provider = _read_raw(metadata.get("raw"))
    message = ": ".join(text for text in (*texts[:1], provider.message) if text)
    return Refusal(frozenset(codes) | provider.codes, message)


def _read_raw(raw: Any) -> Refusal:
    """Return the error of the provider, as a router hands it on: an object, its text, or a message."""
    if isinstance(raw, str):
        parsed = json_or_none(raw)
        raw = parsed if isinstance(parsed, dict | list) else raw
    return read_refusal(raw)


def fault_of(names: Collection[str], message: str, status: int | None) -> ModelFault | None:
    """Return the fault of an answer: by the codes, types and classes, the message, or else the status.

    Args:
        names: The codes and types in the answer, and the names of an exception's classes.
        message: The message of the server.
        status: The HTTP status; None if there was no answer.

    Returns:
        The fault; None without a status, if nothing names it.
    """
    said = message.lower()
    if _asks_for_too_long_answer(said):
        return "bad_request"
    found = [kind for name, kind in _BY_NAME.items() if name in names]
    found += [kind for words, kind in _BY_WORDS.items() if re.search(words, said)]
    if status != 429 and any(re.search(words, said) for words in _TOO_LONG):
        found.append("context_window")
    if found:
        return found[0]
    return None if status is None else _fault_of_status(status)


def _asks_for_too_long_answer(said: str) -> bool:
    """Return whether a limit of the answer's length is refused, and not the conversation.

    Servers that add both up mean the conversation, unless the answer may have more tokens than that has.
    """
    if re.search(_LONG_ANSWER, said):
        return True
    sums = (re.search(words, said) for words in _ADDED_UP)
    return any(int(each["answer"]) > int(each["sent"]) for each in sums if each)


def _fault_of_status(status: int) -> ModelFault:
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status < 400:
        return "bad_answer"
    return "bad_request" if status < 500 else "unavailable"


def broken_off(choice: Mapping[str, Any]) -> Refusal | None:
    """Return why the provider has broken an answer off; None if it has not.

    OpenRouter and others answer with status 200 if the model fails after it has begun: the choice has the finish reason
    ``error``, and the error or nothing. What was written until then is not the answer of the model.
    """
    error = choice.get("error")
    if choice.get("finish_reason") != "error" and not error:
        return None
    found = read_refusal({"error": error})
    return found if found.message else found._replace(message="the answer was broken off")
