"""Transactions of one producer and their coordinator (semantics 11)."""
