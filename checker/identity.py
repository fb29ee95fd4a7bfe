"""Stable identities: the same question has the same id on any machine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import z3

from proofka.checker.terms import TermTable
from proofka.model.language import Action, Duration, TransitionSystem

ID_LENGTH = 16


class Fingerprint:
    """Hashes of terms by structure, each shared subterm hashed once."""

    def __init__(self) -> None:
        self._terms = TermTable()
        self._known: list[bytes] = []

    def of_term(self, term: z3.ExprRef) -> bytes:
        """Return the hash of a term; terms with equal structure have equal hashes in every run."""
        place = self._terms.add(term)
        for node in self._terms.nodes[len(self._known) :]:
            children = b"".join(self._known[child] for child in node.children)
            self._known.append(hashlib.sha256(f"{node.kind}|{node.leaf}|".encode() + children).digest())
        return self._known[place]

    def of_system(self, system: TransitionSystem) -> bytes:
        """Return the hash of a system's variables and actions, independent of their order."""
        variables = sorted(f"{v.name}:{v.low}:{v.high}:{v.initial}".encode() for v in system.variables)
        actions = sorted(self._of_action(action) for action in system.actions)
        return hashlib.sha256(b"\n".join([*variables, *actions])).digest()

    def _of_action(self, action: Action) -> bytes:
        updates = sorted(v.name.encode() + self.of_term(value) for v, value in action.updates.items())
        head = f"{action} {action.fault}".encode()
        return hashlib.sha256(head + self.of_term(action.guard) + b"".join(updates)).digest()

    def of_clocks(self, system: TransitionSystem) -> bytes:
        """Return the hash of the timing of a part of a system: its deadlines, and its actions' conditions on clocks."""
        clocks = [f"{clock} {_bound(clock.at_most)}".encode() + self.of_term(clock.runs) for clock in system.clocks]
        needs = [
            f"{action} {need.clock} {0 if need.at_least is None else need.at_least.at_least()} {_bound(need.at_most)} "
            f"{need.until}"
            for action in system.actions
            for need in system.needs_of(action)
        ]
        return hashlib.sha256(b"\n".join([*sorted(clocks), *sorted(need.encode() for need in needs)])).digest()


def _bound(duration: Duration | None) -> int | None:
    return None if duration is None else duration.at_most()


def verdict_id(parts: Iterable[bytes | str]) -> str:
    """Return the id of a verdict from all parts of the question."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode() if isinstance(part, str) else part
        digest.update(len(encoded).to_bytes(8, "big"))
        digest.update(encoded)
    return digest.hexdigest()[:ID_LENGTH]
