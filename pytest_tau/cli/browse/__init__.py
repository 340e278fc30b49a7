"""Commands for a person at a terminal: conversations of runs, domains with their tasks and tools."""
