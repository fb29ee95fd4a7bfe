"""Brokers, followers and the controller: fetching, in-sync replicas, elections, restarts (semantics 2, 6, 8)."""
