"""The documents of the knowledge base, made from tables and texts."""
