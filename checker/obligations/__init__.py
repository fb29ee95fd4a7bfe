"""Obligations: the questions of a verdict that a solver decides, as SMT-LIB scripts for a second solver."""
