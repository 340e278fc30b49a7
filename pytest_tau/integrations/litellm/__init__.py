"""Chat models over litellm (extra ``llm``). litellm itself is imported at the first call."""

from .completions import Completion, acompletion, completion
from .credentials import check
from .model import LiteLLM, litellm_model

__all__ = ["Completion", "LiteLLM", "acompletion", "check", "completion", "litellm_model"]
