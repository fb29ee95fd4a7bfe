"""Lemmas about systems without some bounds, which a proof by induction can rest on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import z3

from proofka.model.language.actions import Action
from proofka.model.language.variables import Variable


@dataclass(frozen=True)
class Lemma:
    """A statement about states, in words and as a term. Nothing is claimed before a solver has proved the statement.

    ``every``: variables of which the statement speaks for all values that the system allows (its ``ranges_over``).
    ``general``: words for all statements of this form, if the words of each would be too many.
    """

    words: str
    term: z3.BoolRef
    every: tuple[z3.ArithRef, ...] = ()
    general: str = ""


@dataclass(frozen=True)
class OpenSystem:
    """A transition system in which some bounds do not exist.

    ``endless`` names the variables without a highest value. ``facts`` fix the functions where no run decides their
    values. ``ranges_over(value)``: the values of the variables ``every`` of a lemma. ``instances``: the values at which
    such a lemma is used in a proof; fewer of them prove less, and never anything wrong. ``inputs``: further unknown
    values that a step receives. ``without_bound`` and ``within``: what has no bound, and what is bounded, in words.
    """

    name: str
    variables: tuple[Variable, ...]
    actions: tuple[Action, ...]
    endless: frozenset[str]
    without_bound: tuple[str, ...]
    within: tuple[str, ...]
    inputs: tuple[z3.ArithRef, ...] = ()
    facts: tuple[z3.BoolRef, ...] = ()
    ranges_over: Callable[[z3.ArithRef], z3.BoolRef] | None = None
    instances: tuple[z3.ArithRef, ...] = ()
