"""Consequences of the values of a deployment: events that are possible, or that can have an effect."""
