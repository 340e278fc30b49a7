"""The shell over the documents of a knowledge base, and the sandbox that it runs in."""
