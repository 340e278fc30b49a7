"""Collection: what becomes a test item."""
