"""What runs have left: read, summed up, compared, shown."""
