"""The results of a run on the disk: the run's folder, its files, and a previous run that is continued."""
