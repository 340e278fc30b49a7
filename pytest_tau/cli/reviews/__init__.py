"""The command that has finished runs reviewed."""
