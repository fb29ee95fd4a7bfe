"""Known defects as a list, and one of them with everything that the register says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from proofka.properties.known_defects.defect import MEANING, NOTHING, Defect, release_in_words
from proofka.properties.known_defects.register import defects_of, products
from proofka.reports import lines, wording

HOW_TO_ASK = (
    "proofka defects 3.9.1: those of a release of Kafka; librdkafka=2.3.0: of a client; librdkafka: of all its "
    "releases; KAFKA-18991: one of them; FILE: those that could violate what holds for a deployment"
)
"""The words that the command takes, under the summary."""


def releases_in_words(defect: Defect) -> str:
    """Return which releases have a defect and which have the fix: ``2.8.0 to 4.0.0; fixed in 3.9.1, 4.0.1``."""
    first, last = defect.affected.first, defect.affected.last
    known = products()[defect.product]
    begins = release_in_words(first or known.oldest)
    if not defect.affected.fixed:
        return f"{begins} to {release_in_words(known.newest)}; {defect.fix}"
    ends = f" to {release_in_words(last)}" if last > first else ""
    return f"{begins}{ends}; {defect.fix}"


class DefectList:
    """A list of defects under a heading, two lines or more for each."""

    def __init__(self, heading: str, defects: Sequence[Defect]) -> None:
        self.heading = heading
        self.defects = defects

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(f"{self.heading}: {wording.counted(len(self.defects), 'known defect')}", style="bold")
        for defect in self.defects:
            said = f"{defect.id} ({defect.treatment}; {releases_in_words(defect)})"
            yield from lines.wrapped(said, options.max_width, first="", rest="  ")
            yield from lines.wrapped(defect.sentence, options.max_width, first="  ", rest="  ", style="dim")


class WholeDefect:
    """Everything that the register says of one defect."""

    def __init__(self, defect: Defect) -> None:
        self.defect = defect

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(f"{self.defect.id}: {products()[self.defect.product].name}", style="bold")
        for said in _facts(self.defect):
            yield from lines.wrapped(said, options.max_width, first="  ", rest="    ")


def _facts(defect: Defect) -> Iterator[str]:
    yield defect.sentence
    yield f"releases: {releases_in_words(defect)}"
    yield f"can violate: {', '.join(defect.breaks)}"
    if defect.settings:
        yield f"needs the settings: {', '.join(defect.settings)}"
    if defect.needs:
        yield f"needs one of these events: {', '.join(defect.needs)}"
    if defect.features:
        yield f"needs: {', '.join(defect.features)}"
    yield f"{defect.treatment}{defect.shown}: {MEANING[defect.treatment]}"
    yield f"source: {defect.source}"
    if defect.uncertain != NOTHING:
        yield f"not certain: {defect.uncertain}"
    if defect.notes != NOTHING:
        yield f"note: {defect.notes}"


class RegisterSummary:
    """A summary of the register, a line for each product."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text("Known correctness defects, by product", style="bold")
        for product, known in products().items():
            count = wording.counted(len(defects_of(product)), "defect")
            releases = f"{release_in_words(known.oldest)} to {release_in_words(known.newest)}"
            said = f"{known.name}: {count}, releases {releases}, as known on {known.day}, from {known.sources}"
            yield from lines.wrapped(said, options.max_width, first="  ", rest="    ")
        yield Text()
        yield from lines.wrapped(HOW_TO_ASK, options.max_width, first="", rest="", style="dim")
