"""Domains over functions and objects that exist already, and the sessions that their states are in."""

from .callables import check_tool_name
from .domain import domain_of, files_of, folder_of_caller, kinds_of
from .postgresql_state import postgresql
from .sqlite_state import sqlite

__all__ = ["check_tool_name", "domain_of", "files_of", "folder_of_caller", "kinds_of", "postgresql", "sqlite"]
