"""Figures, drawn with matplotlib; equal inputs give equal files."""
