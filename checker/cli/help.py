"""``proofka help``: explain a word, from the tables that the checker itself uses."""

from __future__ import annotations

from typing import Annotated

import typer

from proofka.checker.cli.completing import complete_word
from proofka.checker.cli.errors import fail, plain

NUMBERED = frozenset({"claim", "client rule"})
"""Kinds of words with numbers of the same form."""

OF_NO_WORD = "proofka help lists all words; Kafka's own words have Kafka's meaning, and are not listed"
"""The remark about a word that is unknown and close to no known word."""


def help_on(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WORD]",
            help="A property, setting, fault, assumption, client rule (P08), code of a refusal (N12) or of an error of "
            "a real cluster (T02), verdict, exit status, anomaly of Jepsen's tests (G1a), term (witness), value "
            "(handed-off), mark (!3) or command.",
            autocompletion=complete_word,
        ),
    ] = None,
) -> None:
    """Explain a property, a client or broker setting, a fault, an assumption, a client rule, a code of a refusal, a
    claim, a verdict, an exit status, an anomaly of Jepsen's tests, or a term of Proofka.

    Exit status: 0 the word was explained, 2 the word is unknown.
    """
    from proofka.checker.cli.error_codes import meaning_of_code
    from proofka.reports.console import console
    from proofka.reports.guide.lookup import find, near
    from proofka.reports.guide.printing import Contents, EntryReport
    from proofka.reports.pager import print_paged

    commands = _commands(context)
    if not words:
        print_paged(console(), Contents(commands))
        return
    word = " ".join(words)
    entries = find(word)
    if not entries and word in commands:
        typer.echo(f"{word} is a command: proofka {word} --help")
        return
    if not entries and _is_known_defect(word):
        typer.echo(f"{plain(word)} is a known defect of Kafka or a client: proofka defects {plain(word)}")
        return
    if not entries and (meaning := meaning_of_code(word)) is not None:
        typer.echo(meaning)
        return
    if not entries:
        close = near(word)
        there = f"did you mean {', '.join(close)}?" if close else OF_NO_WORD
        fail(f"{plain(word)[:100]}: no such word; {there}")
    kinds = {entry.kind for entry in entries}
    if kinds >= NUMBERED:
        typer.echo(f"{plain(word)} numbers a {' and a '.join(sorted(NUMBERED))}: only the number is the same")
    if word in commands:
        typer.echo(f"{word} is also a command: proofka {word} --help")
    print_paged(console(), *(EntryReport(entry) for entry in entries))


def _is_known_defect(word: str) -> bool:
    from proofka.properties.known_defects.register import register

    return any(defect.id.lower() == word.strip().lower() for defect in register())


def _commands(context: typer.Context) -> dict[str, str]:
    parent = context.parent
    found = getattr(parent.command, "commands", {}) if parent is not None else {}
    return {name: command.get_short_help_str() for name, command in found.items()}
