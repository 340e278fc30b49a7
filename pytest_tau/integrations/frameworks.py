"""What the packages of agent frameworks share: the tools of a trial, and the import of a framework."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import ConfigurationError

if TYPE_CHECKING:
    from types import ModuleType


class TrialTool(Protocol):
    """A tool of a trial, as the frameworks' packages need it.

    Attributes:
        name: The tool's name.
        description: The text that a model reads.
        parameters: JSON schema of the arguments, an object.
    """

    name: str
    description: str
    parameters: dict[str, Any]

    def call(self, **arguments: Any) -> str:
        """Call the tool, wait, and return the text of its result; a failed tool gives ``Error: …``."""
        ...

    async def acall(self, **arguments: Any) -> str:
        """Do the same as ``call`` without blocking the event loop."""
        ...


def load_framework(module: str, package: str) -> ModuleType:
    """Return a module of a framework, imported now.

    Raises:
        ConfigurationError: It is not installed, or it cannot be imported; names the package.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        missing = f"{module}.".startswith(f"{error.name}.")
        problem = "is not installed" if missing else f"cannot be imported ({error})"
        raise ConfigurationError(f"{package} {problem}: pip install {package}") from error
