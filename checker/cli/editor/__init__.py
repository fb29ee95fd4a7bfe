"""Proofka in an editor: diagnostics, hovers and repairs over the Language Server Protocol."""
