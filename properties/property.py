"""A property: what must hold, as a term over the model's state, and what makes a pass of it mean something."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import z3

from model.language import State


@dataclass(frozen=True)
class Property:
    """One property of one pipeline.

    ``statement`` says it in a sentence, ``guarantee`` names the guarantee it formalises. An invariant holds while
    no reachable state meets ``violated``. A reachability property (``goal`` is not None) holds while from every
    reachable state a state that meets ``goal`` can be reached without another fault. ``witness`` is the situation
    that must be reachable for a pass to mean something, ``explain`` says of a violating state what failed and for
    which record.
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
