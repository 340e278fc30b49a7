"""Chat models over litellm (extra ``llm``)."""
