"""How a command ends: the exit statuses, the same for all of them."""

from __future__ import annotations

from collections.abc import Sequence

from properties.verdict import Status, Verdict

EXIT_HOLDS = 0
EXIT_VIOLATED = 1
EXIT_BAD_INPUT = 2
EXIT_UNDECIDED = 3
EXIT_VACUOUS = 4


def exit_status(verdicts: Sequence[Verdict]) -> int:
    """0: every required property holds; 1: one is violated; 3: one is undecided; 4: one passes only vacuously."""
    required = {verdict.status for verdict in verdicts if verdict.required}
    if Status.VIOLATED in required:
        return EXIT_VIOLATED
    if Status.UNKNOWN in required:
        return EXIT_UNDECIDED
    return EXIT_VACUOUS if Status.VACUOUS in required else EXIT_HOLDS
