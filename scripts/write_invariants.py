"""Write the tables of docs/invariants.md: what ``proofka prove`` proves of each published protocol, with both solvers,
and which examples need ranks of leader epochs for any number of faults.

The script runs for some minutes, and needs cvc5. With ``--examples`` it writes the second table alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from proofka.checker.fixed_point import LEADER_EPOCH  # noqa: E402
from proofka.checker.invariants.confirming import confirmed  # noqa: E402
from proofka.checker.invariants.proof import prove  # noqa: E402
from proofka.checker.invariants.published import PROPERTIES, protocol_subject  # noqa: E402
from proofka.checker.questions import prepare, sliced  # noqa: E402
from proofka.checker.source import Source, narrowed  # noqa: E402
from proofka.model.deployment.deployment import Deployment  # noqa: E402
from proofka.model.pipeline import build  # noqa: E402
from proofka.model.published.protocols import PROTOCOLS  # noqa: E402
from proofka.properties.catalogue import properties_of  # noqa: E402

PAGE = ROOT / "docs" / "invariants.md"
HEAD = (
    "protocol",
    "replicas",
    "log slots",
    *PROPERTIES,
    "lemmas",
    "dropped candidates",
    "obligations that Z3 and cvc5 agree to",
)
SIZES = dict.fromkeys(PROTOCOLS, ((3, 2),)) | {"kip-320": ((2, 2), (3, 1), (3, 2), (3, 3))}
"""The replicas and log slots of each protocol."""
PROTOCOLS_FOUND = "What was found"
EXAMPLES = "Deployments, and any number of faults"
HEAD_OF_EXAMPLES = ("example", "properties", "depend on the newest leader epoch")
SECONDS_FOR_ONE = 600.0


def rows(asked: Mapping[str, Iterable[tuple[int, int]]] = SIZES) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table for some protocols and sizes."""
    for name, sizes in asked.items():
        for replicas, log_size in sizes:
            proof = prove(protocol_subject(name, replicas=replicas, log_size=log_size, properties=PROPERTIES))
            answers = confirmed(proof.obligations, second=True, seconds=SECONDS_FOR_ONE)
            refuted = [*answers.disputes(), *answers.left_open()]
            proved = ("no" if refuted or one in proof.reasons else "proved" for one in PROPERTIES)
            counts = (len(proof.lemmas), len(proof.dropped), len(proof.obligations) - len(refuted))
            print(f"{name}, {replicas} replicas, {log_size} log slots: {answers.line}")
            yield (f"`{name}`", str(replicas), str(log_size), *proved, *map(str, counts))


def example_rows() -> Iterator[tuple[str, ...]]:
    """Yield, for each example, how many of its properties depend on the newest leader epoch."""
    for path in sorted((ROOT / "examples").glob("*.yaml")):
        deployment = narrowed(Source(path, None, None, None, None, None).read(), "any", None)
        yield (f"`{path.name}`", *map(str, _of_example(deployment)))


def _of_example(deployment: Deployment) -> tuple[int, int]:
    """Return the number of properties, and of those that depend on the newest leader epoch."""
    prepared = prepare(build(deployment))
    properties = properties_of(prepared.model.pipeline)
    newest = next(family.newest for family in prepared.model.system.ranked if family.name == LEADER_EPOCH)
    ranked = [one.name for one in properties if newest in set(sliced(prepared, [one]).variables)]
    return len(properties), len(ranked)


def table(head: Sequence[str], found: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table in Markdown."""
    return [f"| {' | '.join(line)} |" for line in (head, ("---",) * len(head), *found)]


def with_table(page: str, heading: str, lines: list[str]) -> str:
    """Return the page with these lines in place of the table at the end of a section."""
    before, start, rest = page.partition(f"## {heading}\n")
    section, following, after = rest.partition("\n## ")
    kept = section.splitlines()
    while kept and (kept[-1].startswith("|") or not kept[-1]):
        kept.pop()
    return before + start + "\n".join([*kept, "", *lines]) + "\n" + following + after


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    page = with_table(page, EXAMPLES, table(HEAD_OF_EXAMPLES, example_rows()))
    if "--examples" not in sys.argv:
        page = with_table(page, PROTOCOLS_FOUND, table(HEAD, rows()))
    PAGE.write_text(page, encoding="utf-8")
