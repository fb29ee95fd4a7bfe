"""Write docs/properties.md from the tables of the guide. Run this script if a test reports that the page differs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from proofka.model.deployment.required_properties import KNOWN_PROPERTIES  # noqa: E402
from proofka.reports.guide.entry import row_of, table  # noqa: E402
from proofka.reports.guide.other_names import anomalies_near, names_elsewhere  # noqa: E402
from proofka.reports.guide.words import required  # noqa: E402

PAGE = ROOT / "docs" / "properties.md"

HEAD = """# Properties and their names elsewhere

Each property is one sentence about all runs of a deployment. `proofka help WORD` explains a property, and each name of
Jepsen below. [semantics.md](semantics.md#properties-properties) defines the words of the sentences;
[verdicts.md](verdicts.md) says what a verdict is.

The scope names what a property compares: *answers* to the application that sends, the *log*, the *consumer* group and
its sink, or *transactions* as their readers see these.

| property | says | scope | required |
|---|---|---|---|"""

ELSEWHERE = """
## Names in Jepsen and in Kafka's documentation

[Jepsen](https://jepsen.io) tests a running cluster: its workload for Kafka (`jepsen.tests.kafka` of
[jepsen-io/jepsen](https://github.com/jepsen-io/jepsen), as of commit 0f32519) searches the history of one test for
anomalies. Proofka decides a property over all runs of a model. So an anomaly that Jepsen finds has happened, and a
violation that Proofka finds can happen. The table names the nearest anomalies; *difference* says what only one of the
two counts. The last columns have Kafka's words for the guarantee, in short, and the section of
[Kafka's documentation](https://kafka.apache.org/documentation/) about it.

| property | nearest in Jepsen | difference | Kafka | section |
|---|---|---|---|---|"""

ANOMALIES = """
## Jepsen's names

The names of the workload, and of its reports on [Redpanda 21.10.1](https://jepsen.io/analyses/redpanda-21.10.1) and
[Bufstream 0.1.0](https://jepsen.io/analyses/bufstream-0.1.0). A name without a property says why.

| name | of | meaning | properties | remark |
|---|---|---|---|---|"""


def text() -> str:
    """Return the page in Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield HEAD
    for name in KNOWN_PROPERTIES:
        said = row_of("properties", "name", name)["statement"]
        yield _row(f"`{name}`", said, _listed(names_elsewhere(name)["scope"]), required(name))
    yield ELSEWHERE
    for name in KNOWN_PROPERTIES:
        row = names_elsewhere(name)
        near = ", ".join(anomalies_near(name)) or "none"
        sections = [row_of("kafka_sections", "section", one) for one in row["sections"].split()]
        where = ", ".join(f"[{one['title']}]({one['link']})" for one in sections)
        yield _row(f"`{name}`", near, row["differs"], row["kafka"] or "none", where or "none")
    yield ANOMALIES
    for row in table("jepsen"):
        properties = ", ".join(f"`{name}`" for name in row["properties"].split())
        yield _row(row["name"], _listed(row["of"]), row["meaning"], properties or "none", row["why"])


def _listed(words: str) -> str:
    return ", ".join(words.split())


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
