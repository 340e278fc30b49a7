"""Translators between wire formats and chat requests and replies, one module for each format; without any effects."""
