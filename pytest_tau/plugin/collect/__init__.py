"""Collection: tasks become test items."""
