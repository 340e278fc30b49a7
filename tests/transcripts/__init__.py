"""Transcripts of runs of the plugin: what a user sees and finds on disk, recorded and compared.

Each run of ``runs_*.py`` is made in an empty folder. Its arguments, exit status, terminal output and all files that it
writes are compared with ``recorded/<name>.txt``. After an intended change, record again and review the difference::

    PYTEST_TAU_TRANSCRIPTS=record pytest tests/transcripts

The runs use options, hooks and public names only, so that they stay valid if code is moved inside the plugin.
"""
