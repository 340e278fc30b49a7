"""Subcommands about runs that are not made yet."""
