"""Reports of a run for people and CI services: header, summary, progress, files, exit status."""
