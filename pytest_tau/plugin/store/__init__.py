"""The run's folder, from the plugin's side."""
