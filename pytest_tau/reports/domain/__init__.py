"""The description of a domain, as JSON, Markdown and HTML."""

from .describe import describe_domain
from .html import domain_page
from .markdown import domain_markdown

__all__ = ["describe_domain", "domain_markdown", "domain_page"]
