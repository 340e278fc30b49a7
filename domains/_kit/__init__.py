"""Parts that the bundled domains share: dialogs of rules agents, and the building of tasks."""
