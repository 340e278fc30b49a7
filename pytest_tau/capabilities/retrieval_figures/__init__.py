"""What agents have searched for and read in a knowledge base, compared with what their tasks require."""

from __future__ import annotations

from ...capability import Capability, FactColumn, deferred

capability = Capability(
    name="retrieval_figures",
    title="retrieval",
    trial=deferred(f"{__name__}.facts:RetrievalStages"),
    columns=(
        FactColumn("retrieval", "variant", kind="text"),
        FactColumn("searches", "number", label="Searches"),
        FactColumn("documents_read"),
        FactColumn("required_documents"),
        FactColumn("required_read"),
        FactColumn("recall", label="Recall", kind="score", metric=True, most=1.0, lacking="no task requires documents"),
        *(FactColumn(f"recall_at_{k}") for k in (1, 5, 10)),
    ),
    summary=deferred(f"{__name__}.facts:summary"),
    failure=deferred(f"{__name__}.facts:failure"),
    page=deferred(f"{__name__}.facts:page"),
)
