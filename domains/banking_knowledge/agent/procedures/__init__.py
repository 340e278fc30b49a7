"""What the rules agent does for each kind of request: each searches first, and goes by what it read."""
