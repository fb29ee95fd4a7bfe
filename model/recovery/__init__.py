"""What a producer's client does about sequence numbers: a module for each way to recover (semantics 3.4, 4, 11)."""
