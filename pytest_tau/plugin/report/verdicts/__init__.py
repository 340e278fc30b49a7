"""Gates on the whole run and on the trials of a test, and runs that end once their verdict is known."""
