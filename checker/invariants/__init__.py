"""Invariants: proofs by induction, for any number of steps, of systems in which some bounds do not exist."""
