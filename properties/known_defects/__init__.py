"""Known defects of Kafka's releases and of client libraries: the register, and what of it can falsify a pass."""
