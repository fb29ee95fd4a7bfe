"""Recovery of sequence numbers after a failure of a producer: a module for each way (semantics 3.4, 4, 11)."""
