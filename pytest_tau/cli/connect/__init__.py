"""Commands that connect agents with tools."""
