"""Sections of the terminal summary that are only shown: no other part of the plugin uses what they are made of."""
