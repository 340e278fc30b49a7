"""The progress of a run: a line at a terminal, and at intervals a line in a log that is written to a file."""
