"""Compaction: the cleaner's removals from the logs, and what they leave to be read (semantics 10, D3 D4)."""
