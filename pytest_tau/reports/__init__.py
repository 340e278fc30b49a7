"""Finished runs for people: lines for a terminal, Markdown, HTML, and files for other programs."""
