"""Figures, drawn with matplotlib: the same input gives the same files."""
