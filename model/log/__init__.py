"""A replica's log and what its broker reads from the log: records, markers, offsets, numbers (semantics 3.5, 10)."""
