"""What the bundled domains share: dialogues of rules agents, and the making of tasks."""
