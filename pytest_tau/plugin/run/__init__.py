"""One trial inside a test item."""
