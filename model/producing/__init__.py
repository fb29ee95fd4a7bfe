"""The producer's client and application: sending, answers, errors, stopping (semantics 3, 4, 5)."""
