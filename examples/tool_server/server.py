"""A tool server that exists already: it speaks MCP, and knows nothing about pytest-tau."""

import json

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

server = MCPServer("notes")
notes: dict[str, str] = {"n1": "Call the plumber."}


@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def list_notes() -> dict[str, str]:
    """List all notes by their number."""
    return notes


@server.tool()
def add_note(text: str) -> str:
    """Add a note, and return its number.

    Args:
        text: The text of the note.
    """
    number = f"n{len(notes) + 1}"
    notes[number] = text
    return number


@server.tool()
def delete_note(number: str) -> str:
    """Delete a note.

    Args:
        number: The number of the note.
    """
    del notes[number]
    return f"{number} deleted"


@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def note_exists(number: str) -> bool:
    """Return whether there is a note."""
    return number in notes


@server.resource("notes://all")
def all_notes() -> str:
    """All notes, as JSON."""
    return json.dumps({"notes": notes})


if __name__ == "__main__":
    server.run()
