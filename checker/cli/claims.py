"""``proofka claims``: decide published claims about Kafka."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from proofka.checker.cli.endings import EXIT_HOLDS, EXIT_UNDECIDED
from proofka.checker.cli.errors import complain, fail, one_line_errors

MANY = 10
"""Number of claims from which deciding takes minutes, so that the command says so first."""


def claims(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID]...",
            help="Claims such as C005, findings such as F01, incidents such as I016, or a whole table: claims, "
            "findings or incidents (default: claims).",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write an overview page and one page for each claim into this folder (default: none).", file_okay=False
        ),
    ] = None,
) -> None:
    """Decide published claims about Kafka's reliability, each by exploring the deployments that the claim is about.

    Exit status: 0 everything that a model can decide was decided, 2 the input is wrong, 3 some claim was left
    undecided.
    """
    import threading

    from proofka.properties.claims.all_claims import find_claims
    from proofka.properties.claims.claim import Outcome

    with one_line_errors():
        asked = find_claims(ids or [])
    from proofka.checker.claims import decide_all
    from proofka.checker.interruption import interrupts
    from proofka.reports.claims import print_claims, write_claims
    from proofka.reports.terminal import console

    if len(asked) >= MANY:
        complain(f"deciding {len(asked)} claims, which takes minutes; proofka claims {asked[0].id} decides one")
    stop = threading.Event()
    decisions = []
    with one_line_errors(), interrupts(stop), console(stderr=True).status("deciding") as line:
        for decision in decide_all(asked, stop):
            decisions.append(decision)
            line.update(f"{len(decisions)} of {len(asked)} claims decided")
    print_claims(console(), decisions)
    if len(decisions) < len(asked):
        fail(f"interrupted: {len(asked) - len(decisions)} claims were not decided", EXIT_UNDECIDED)
    if out is not None:
        with one_line_errors():
            complain(f"written: {', '.join(map(str, write_claims(out, decisions)))}")
    undecided = any(decision.answers and decision.outcome is Outcome.UNDECIDED for decision in decisions)
    raise typer.Exit(EXIT_UNDECIDED if undecided else EXIT_HOLDS)
