"""How a command ends: the exit statuses, the same for all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from properties.audited import AuditSummary
from properties.verdict import Status, Verdict

EXIT_HOLDS = 0
EXIT_VIOLATED = 1
EXIT_BAD_INPUT = 2
EXIT_UNDECIDED = 3
EXIT_VACUOUS = 4


def exit_status(
    verdicts: Sequence[Verdict], fail_on: Collection[str] = (), *, fails_on_known_defects: bool = False
) -> int:
    """0: every required property holds; 1: one is violated; 3: one is undecided; 4: one passes only vacuously.

    With ``fail_on``, the same of the properties that it names, required or not, and of no others. With
    ``fails_on_known_defects`` a property that a known defect could violate counts as undecided.
    """
    counted = [verdict for verdict in verdicts if counts(verdict, fail_on)]
    unsure = fails_on_known_defects and any(verdict.known_defects for verdict in counted)
    return _worst({verdict.status for verdict in counted} | ({Status.UNKNOWN} if unsure else set()))


def is_interrupted(verdicts: Iterable[Verdict]) -> bool:
    """Tell whether an interrupt ended the check that these verdicts come from."""
    return any(verdict.coverage.stopped == "interrupted" for verdict in verdicts)


def counts(verdict: Verdict, fail_on: Collection[str]) -> bool:
    """Whether a verdict decides how the command ends."""
    return verdict.property in fail_on if fail_on else verdict.required


def audit_status(summary: AuditSummary) -> int:
    """As of a check, of all deployments together; 2 where a row was rejected and none is known to be violated."""
    status = _worst(summary.worst.keys())
    return EXIT_BAD_INPUT if summary.rejected and status != EXIT_VIOLATED else status


def worst_of(statuses: Collection[int]) -> int:
    """Of several checks: the worst, in the order 1, 2, 3, 4; 0 if each ended so."""
    order = (EXIT_VIOLATED, EXIT_BAD_INPUT, EXIT_UNDECIDED, EXIT_VACUOUS)
    return next((status for status in order if status in statuses), EXIT_HOLDS)


def _worst(required: Collection[Status]) -> int:
    if Status.VIOLATED in required:
        return EXIT_VIOLATED
    if Status.UNKNOWN in required:
        return EXIT_UNDECIDED
    return EXIT_VACUOUS if Status.VACUOUS in required else EXIT_HOLDS
