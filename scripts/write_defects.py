"""Writes docs/defects.md from the register of known defects: run it when a test says that the page differs from it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from proofka.properties.known_defects.defect import MEANING, Defect, Treatment, release_in_words  # noqa: E402
from proofka.properties.known_defects.register import defects_of, products  # noqa: E402
from proofka.reports.defect_list import releases_in_words  # noqa: E402

PAGE = ROOT / "docs" / "defects.md"

HEAD = """# Known defects

Kafka's releases and client libraries have had defects that lose, repeat, reorder or expose records, or that stop a
pipeline permanently. A verdict is about a model, and the model has only some of these defects. This register lists
the known ones. Each has a treatment; a refused defect names the codes of its refusals ([refusals.md](refusals.md)):

"""

AFTER = """
A pass names each noted defect that could falsify it: a release of the deployment has the defect, the defect can
violate the property, the deployment meets the defect's conditions on settings and uses its features, and one of its
events can happen with the faults that are explored, or by what the deployment says of its application and releases. A
condition that no file decides counts as met. The table of verdicts marks such a pass (`holds !3`), `--details`, JSON
and reports list the defects, and `--fail-on-known-defects` ends with status 3. `proofka defects` lists the register:
`proofka defects 3.9.1`, `librdkafka=2.3.0`, `KAFKA-18991`, or a deployment's file.

What the register does not have: performance, security, administration, Kafka Connect and Kafka Streams, and crashes
that lose nothing by themselves. Each entry of the change logs that was read stands in
`tests/properties/known_defects/headings/`, with its row here or with the reason why it has none.

"""


def text() -> str:
    """Return the page in Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    meanings = "\n".join(f"- *{treatment}*: {MEANING[treatment]}." for treatment in Treatment)
    yield f"{HEAD}{meanings}\n{AFTER}".rstrip("\n")
    yield ""
    yield "| product | releases | state of | sources | modelled | refused | noted |"
    yield "|---|---|---|---|---|---|---|"
    for product, known in products().items():
        counts = Counter(defect.treatment for defect in defects_of(product))
        releases = f"{release_in_words(known.oldest)} to {release_in_words(known.newest)}"
        numbers = " | ".join(str(counts[treatment]) for treatment in Treatment)
        yield f"| {known.name} | {releases} | {known.day} | {known.sources} | {numbers} |"
    for product, known in products().items():
        yield ""
        yield f"## {known.name}"
        yield ""
        yield "| defect | releases | what goes wrong | can violate | treatment |"
        yield "|---|---|---|---|---|"
        yield from map(_row, defects_of(product))


def _row(defect: Defect) -> str:
    needs = [*defect.features, *(f"`{condition}`" for condition in defect.settings)]
    where = f" Needs {', '.join(needs)}." if needs else ""
    cells = (
        defect.id,
        releases_in_words(defect),
        f"{defect.sentence}{where}",
        ", ".join(defect.breaks),
        f"{defect.treatment}{defect.shown}",
    )
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
