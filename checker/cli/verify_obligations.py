"""``proofka verify``: what the verdicts leave to Z3, as files, and asked of a second solver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from proofka.checker.cli.endings import EXIT_UNDECIDED, EXIT_VIOLATED
from proofka.checker.cli.errors import complain, fail
from proofka.checker.cli.obligation_options import SecondSolver
from proofka.checker.cli.verify_again import Found

if TYPE_CHECKING:
    from proofka.checker.obligations.obligation import Obligation

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Obligations:
    """The use of obligations that the user asked for: a solver to ask, a folder to write, or both."""

    solver: SecondSolver | None
    folder: Path | None

    @property
    def are_wanted(self) -> bool:
        """Tell whether the user asked for a solver or a folder."""
        return self.solver is not None or self.folder is not None

    def refuse_what_cannot_be(self) -> None:
        """Refuse, before the verification, a solver that is missing and a folder that cannot be written."""
        if self.solver is not None:
            from proofka.checker.obligations.second_solver import refuse_if_missing

            refuse_if_missing()
        if self.folder is not None and self.folder.exists():
            if not self.folder.is_dir():
                fail(f"{self.folder}: is no directory; --obligations takes a directory")
            if any(self.folder.iterdir()):
                fail(f"{self.folder}: is not empty; --obligations takes a new or an empty directory")

    def of_result(self, found: Found, document: Document, called: str) -> Found:
        """Return the outcome for a result, with the obligations behind its verdicts."""
        from proofka.checker.statements import reductions_of

        if not self.are_wanted:
            return found
        with_lemmas = [verdict["property"] for verdict in document["verdicts"] if verdict["lemmas"]]
        without_cycle = [name for name in with_lemmas if name not in found.cycles]
        outcome = self._of(found, document["deployment"], called, [str(one) for one in reductions_of(document)])
        if not without_cycle:
            return outcome
        why = "--recount finds these again" if not found.cycles else "the new exploration did not find these"
        line = f"not verified: the cycles behind the timing lemmas of {', '.join(without_cycle)}; {why}"
        return replace(outcome, lines=(*outcome.lines, line), status=_worse(outcome.status, EXIT_UNDECIDED))

    def of_certificate(self, found: Found, deployment: Document, called: str) -> Found:
        """Return the outcome for a certificate, with the obligations behind its systems.

        A certificate has its states, and the sums of its lemmas, so only its systems rest on answers of Z3.
        """
        return self._of(found, deployment, called, []) if self.are_wanted else found

    def of_another_model(self, found: Found) -> Found:
        """Return the outcome for a file that another version of the model wrote, whose systems are not built here."""
        if not self.are_wanted:
            return found
        line = "not verified: what the verdicts leave to Z3, which the version of Proofka that wrote them tells"
        return replace(found, lines=(*found.lines, line), status=_worse(found.status, EXIT_UNDECIDED))

    def _of(self, found: Found, told: Document, called: str, reductions: list[str]) -> Found:
        from proofka.checker.obligations.collecting import obligations_of
        from proofka.checker.obligations.writing import write
        from proofka.checker.reductions.choice import Reduction
        from proofka.model.deployment.document import from_document

        cycles = [cycle for each in found.cycles.values() for cycle in each]
        collected = obligations_of(from_document(told), frozenset(map(Reduction, reductions)), cycles)
        lines = list(found.lines)
        if self.folder is not None:
            write(collected, self.folder)
            lines.append(f"obligations: {len(collected):,} files written to {self.folder}")
        status = found.status
        if self.solver is not None:
            said, status = _asked(collected, called, status)
            lines += said
        return replace(found, lines=tuple(lines), status=status)


def _asked(collected: tuple[Obligation, ...], called: str, status: int) -> tuple[list[str], int]:
    """Ask both solvers, and return their lines and the status. End the command if one of them refutes an obligation."""
    from proofka.checker.obligations.second_solver import agreement

    answers = agreement(collected)
    if answers.disputed:
        for line in answers.disputes():
            complain(f"{called}: the verdicts are withdrawn: {line}")
        raise typer.Exit(EXIT_VIOLATED)
    lines = [answers.line, *(f"not verified: {line}" for line in answers.left_open())]
    return lines, _worse(status, EXIT_UNDECIDED) if answers.undecided else status


def _worse(one: int, other: int) -> int:
    return EXIT_VIOLATED if EXIT_VIOLATED in (one, other) else max(one, other)
