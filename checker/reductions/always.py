"""The reductions that no option switches off: verdict ids hash the system that these reductions return."""

from __future__ import annotations

from dataclasses import replace

from proofka.checker.reductions.endless import without_endless
from proofka.checker.reductions.unread import reset_unread
from proofka.model.pipeline import Model


def always_reduced(model: Model) -> Model:
    """Return the model that is explored and replayed. A reduced model stays as it is."""
    return replace(model, system=reset_unread(without_endless(model.system)))
