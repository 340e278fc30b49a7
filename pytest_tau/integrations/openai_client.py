"""The client of the package openai for the model endpoint of a trial."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ConfigurationError

if TYPE_CHECKING:
    from openai import OpenAI


def openai_client(base_url: str, api_key: str) -> OpenAI:
    """Return a client.

    Args:
        base_url: The address of the trial's endpoint.
        api_key: The key for it.

    Raises:
        ConfigurationError: The package openai is not installed.
    """
    try:
        from openai import OpenAI
    except ImportError as error:
        problem = f"the fixture tau_agent_client needs the package openai: pip install openai ({error})"
        raise ConfigurationError(problem) from error
    return OpenAI(base_url=base_url, api_key=api_key)
