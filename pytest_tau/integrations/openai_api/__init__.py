"""Chat models of servers that speak OpenAI's API, over aiohttp (extra ``endpoint``), where litellm is not installed."""

from .model import OpenAIServer
from .route import check

__all__ = ["OpenAIServer", "check"]
