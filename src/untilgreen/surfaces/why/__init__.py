"""Why a run stands where it stands: the evidence of its last decision, and how to go on from there."""
