"""Modules of Python as Python has them, whatever a project has put in their places."""
