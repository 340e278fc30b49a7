"""The bundled capabilities. Each is a folder; without it and its name below, everything else works as before."""

#: Those whose fixtures and hooks tests without a trial may use: every run of pytest imports them.
AT_START = ("snapshots",)
#: The capabilities in the order in which they are called.
BUNDLED = (
    "attacks",
    "tool_faults",
    "user_validity",
    "partial_credit",
    "policy_rules",
    "retrieval_figures",
    "reviews",
    "quarantine",
    "changed",
    "fork",
    "stopping",
    *AT_START,
    "serving",
    "traces",
    "voice",
    "plain_clients",
    "queue",
    "doubts",
    "labels",
    "coverage",
    "near_miss",
    "mutants",
    "editions",
    "approvals",
    "sessions",
)
