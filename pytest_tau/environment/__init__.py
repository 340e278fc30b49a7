"""Records, databases and toolkits, which domains consist of, and the environments of simulations."""

from ..errors import ToolError
from ..models import Spoken
from ..models.task_files import DEFAULT_SPLIT
from .arguments import misfits
from .changes import Change
from .database import Database
from .domain import Difficulty, Domain, DomainSpec
from .domain_files import PolicyFiles
from .environment import Environment
from .execution_checks import check_reference
from .functions import domain_of, postgresql, sqlite
from .jsonable import jsonable
from .records import Record, canonical
from .reference_states import failed_action, reference_environment, shared_reference, unstable_reference
from .results import is_error, same_reply, same_result, stored_calls
from .retrieval import KnowledgeSpec, Retrieval, RetrievalToolkit
from .tables import KeyedBy, Noted, Table
from .toolkit import Tool, ToolInfo, Toolkit, tool
from .validation import check_comparable, check_domain, check_history, check_task, on_other_domain
from .values import Value, Values, declare_values, filled, flat_values, named_in, number_word, read_values

__all__ = [
    "DEFAULT_SPLIT",
    "Change",
    "Database",
    "Difficulty",
    "Domain",
    "DomainSpec",
    "Environment",
    "KeyedBy",
    "KnowledgeSpec",
    "Noted",
    "PolicyFiles",
    "Record",
    "Retrieval",
    "RetrievalToolkit",
    "Spoken",
    "Table",
    "Tool",
    "ToolError",
    "ToolInfo",
    "Toolkit",
    "Value",
    "Values",
    "canonical",
    "check_comparable",
    "check_domain",
    "check_history",
    "check_reference",
    "check_task",
    "declare_values",
    "domain_of",
    "failed_action",
    "filled",
    "flat_values",
    "is_error",
    "jsonable",
    "misfits",
    "named_in",
    "number_word",
    "on_other_domain",
    "postgresql",
    "read_values",
    "reference_environment",
    "same_reply",
    "same_result",
    "shared_reference",
    "sqlite",
    "stored_calls",
    "tool",
    "unstable_reference",
]
