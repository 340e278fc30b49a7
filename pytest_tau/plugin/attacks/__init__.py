"""Trials under attack: which there are, and what is reported of them."""
