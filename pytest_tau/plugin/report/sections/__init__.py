"""Sections of the terminal summary that are made of the records of all trials alone."""
