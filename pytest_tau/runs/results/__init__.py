"""Files of results: those of this project and of other tools, read entry by entry."""
