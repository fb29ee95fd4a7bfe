"""``proofka properties``: every property in one sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from proofka.reports import lines

if TYPE_CHECKING:
    from proofka.properties.property import Property


def print_properties(out: Console, properties: Iterable[Property]) -> None:
    """Print each property with its family, its statement, the guarantee that it formalises, and its witness."""
    for position, each in enumerate(properties):
        if position:
            out.print()
        out.print(Text.assemble((each.name, "bold"), f" ({each.family})"))
        for label, text in (("says", each.statement), ("guarantee", each.guarantee), ("witness", each.witness_words)):
            lines.print_wrapped(out, text, first=f"  {label:<10} ", rest=" " * 13)
