"""Exit statuses, the same for every command."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from proofka.properties.audited import AuditSummary
from proofka.properties.verdict import Status, Verdict

EXIT_HOLDS = 0
EXIT_VIOLATED = 1
EXIT_BAD_INPUT = 2
EXIT_UNDECIDED = 3
EXIT_VACUOUS = 4
EXIT_PARTLY_READ = 9
"""A live cluster was not read completely: a broker is down, or does not answer."""


EXIT_NO_POLICY = 10
"""A rule of a policy cannot be read or decided; the other rules were decided."""


def exit_status(
    verdicts: Sequence[Verdict], fail_on: Collection[str] = (), *, fails_on_known_defects: bool = False
) -> int:
    """Return the exit status for these verdicts.

    0: every required property holds. 1: one is violated. 3: one is undecided. 4: one passes only vacuously. With
    ``fail_on``, the status depends on the named properties only, required or not. With ``fails_on_known_defects``, a
    property that a known defect could violate counts as undecided.
    """
    counted = [verdict for verdict in verdicts if counts(verdict, fail_on)]
    unsure = fails_on_known_defects and any(verdict.known_defects for verdict in counted)
    return _worst({verdict.status for verdict in counted} | ({Status.UNKNOWN} if unsure else set()))


def is_interrupted(verdicts: Iterable[Verdict]) -> bool:
    """Tell whether an interrupt ended the check that these verdicts come from."""
    return any(verdict.coverage.stopped == "interrupted" for verdict in verdicts)


def counts(verdict: Verdict, fail_on: Collection[str]) -> bool:
    """Tell whether a verdict affects the exit status."""
    return verdict.property in fail_on if fail_on else verdict.required


def audit_status(summary: AuditSummary) -> int:
    """Return the exit status of an audit: as for a check, over all deployments.

    The status is 2 if a row was rejected and no deployment is known to violate a required property.
    """
    status = _worst(summary.worst.keys())
    return EXIT_BAD_INPUT if summary.rejected and status != EXIT_VIOLATED else status


def worst_of(statuses: Collection[int]) -> int:
    """Return the worst of several exit statuses, in the order 1, 9, 2, 3, 4, or 0 if every status is 0."""
    order = (EXIT_VIOLATED, EXIT_PARTLY_READ, EXIT_BAD_INPUT, EXIT_UNDECIDED, EXIT_VACUOUS)
    return next((status for status in order if status in statuses), EXIT_HOLDS)


def _worst(required: Collection[Status]) -> int:
    if Status.VIOLATED in required:
        return EXIT_VIOLATED
    if Status.UNKNOWN in required:
        return EXIT_UNDECIDED
    return EXIT_VACUOUS if Status.VACUOUS in required else EXIT_HOLDS


def ending(status: int, *, compared: bool = False) -> str:
    """Return the end of a check of several pipelines in words, with the exit status.

    ``compared``: only what is new, beside what was known, decides the status.
    """
    new = "newly " if compared else ""
    said = {
        EXIT_HOLDS: "nothing new was found" if compared else "every required property of every pipeline holds",
        EXIT_VIOLATED: f"a required property is {new}violated",
        EXIT_BAD_INPUT: "an input is wrong, or an acceptance has expired; standard error names the place",
        EXIT_UNDECIDED: "a required property is undecided",
        EXIT_VACUOUS: "a required property holds only because its witness was not reached",
    }
    return f"{said.get(status, 'not everything was read')} (exit status {status})"
