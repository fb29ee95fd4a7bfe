"""A property: a condition as a term over the state of the model, and the witness that a pass must reach."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import z3

from proofka.model.language import State


@dataclass(frozen=True)
class Property:
    """One property of one pipeline.

    ``statement`` is the property in a sentence, ``guarantee`` the guarantee that the property formalises. An
    invariant holds if no reachable state satisfies ``violated``. A reachability property (``goal`` is not None) holds
    if every reachable state can reach a state that satisfies ``goal`` without another fault. ``witness`` is the
    situation that must be reachable, because a pass is vacuous otherwise. ``explain`` returns the failure in a
    violating state and its record.
    """

    name: str
    family: str
    statement: str
    guarantee: str
    violated: z3.BoolRef
    witness: z3.BoolRef
    witness_words: str
    explain: Callable[[State], str]
    goal: z3.BoolRef | None = None
