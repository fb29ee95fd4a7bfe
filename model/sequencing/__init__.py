"""Requests of a producer on their way, and the sequence numbers in these requests (semantics 3.1, 3.4, 4)."""
