"""Compaction: what the cleaner takes out of the logs, and what that leaves to be read (semantics 10, D3 D4)."""
