"""The conformance lab: random runs of a real cluster are behaviours of the model."""
