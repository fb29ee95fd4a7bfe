"""Proofs by induction: the lemmas that every step keeps, and the properties that follow from them."""

from __future__ import annotations

import re
import string
import time
from collections.abc import Mapping
from dataclasses import dataclass

import z3

from proofka.checker.invariants.induction import Dropped, Induction, NoAnswer, domains_of
from proofka.checker.invariants.scripts import obligations_of
from proofka.checker.obligations.obligation import Obligation
from proofka.model.language import Action
from proofka.model.language.lemmas import Lemma, OpenSystem
from proofka.properties.listing import listed

SECONDS = 600.0
"""Limit of time for a proof, unless the user names one."""

NO_INVARIANT = "the lemmas that every step keeps do not imply it"

_REPLICA = re.compile(r"\br[0-9]+\b")
_LETTERS = string.ascii_uppercase


@dataclass(frozen=True)
class Subject:
    """A system to prove properties of: ``candidates`` for lemmas, and the term that violates each property."""

    system: OpenSystem
    candidates: tuple[Lemma, ...]
    violated: Mapping[str, z3.BoolRef]


@dataclass(frozen=True)
class Proof:
    """The outcome of a search for a proof.

    ``lemmas`` are inductive together: the invariant. ``dropped``: the other candidates. ``proved``: the properties that
    the invariant implies. ``reasons``: why each other property is not proved. ``idle``: the steps that happen in no
    state with the invariant. ``obligations``: what the proof rests on.
    """

    subject: Subject
    lemmas: tuple[Lemma, ...]
    dropped: tuple[Dropped, ...]
    proved: tuple[str, ...]
    reasons: Mapping[str, str]
    idle: tuple[Action, ...]
    obligations: tuple[Obligation, ...]

    @property
    def scope(self) -> str:
        """Return what the proof is about: what has no bound, and what is bounded."""
        system = self.subject.system
        return f"any number of {listed(system.without_bound)}; {', '.join(system.within)}"

    def in_general(self) -> tuple[str, ...]:
        """Return the lemmas in words, once for all replicas that they speak of alike."""
        return tuple(dict.fromkeys(lemma.general or _with_letters(lemma.words) for lemma in self.lemmas))


def prove(subject: Subject, seconds: float = SECONDS) -> Proof:
    """Search for a proof of each property of a subject, for at most ``seconds``."""
    names = tuple(subject.violated)
    induction = Induction(
        subject.system, [*domains_of(subject.system), *subject.candidates], time.monotonic() + seconds
    )
    try:
        largest = induction.largest()
    except NoAnswer as error:
        return Proof(subject, (), (), (), dict.fromkeys(names, str(error)), (), ())
    reasons = dict[str, str]()
    for name, violated in subject.violated.items():
        try:
            if not induction.implies(violated):
                reasons[name] = NO_INVARIANT
        except NoAnswer as error:
            reasons[name] = str(error)
    proved = tuple(name for name in names if name not in reasons)
    implied = {name: subject.violated[name] for name in proved}
    if not proved:
        return Proof(subject, largest.lemmas, largest.dropped, (), reasons, (), ())
    try:
        idle = induction.idle_steps()
    except NoAnswer as error:
        return Proof(subject, largest.lemmas, largest.dropped, (), dict.fromkeys(names, str(error)), (), ())
    obligations = obligations_of(subject.system, largest.lemmas, implied)
    return Proof(subject, largest.lemmas, largest.dropped, proved, reasons, idle, obligations)


def _with_letters(words: str) -> str:
    """Return a sentence in which replicas are A, B, ... in the order in which they occur."""
    letters = dict[str, str]()

    def named(found: re.Match[str]) -> str:
        return letters.setdefault(found[0], _LETTERS[len(letters)])

    return _REPLICA.sub(named, words)
