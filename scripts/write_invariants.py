"""Write the table of docs/invariants.md: what ``proofka prove`` proves of each published protocol, with both solvers.

The script runs for some minutes, and needs cvc5.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from checker.invariants.confirming import confirmed  # noqa: E402
from checker.invariants.proof import prove  # noqa: E402
from checker.invariants.published import PROPERTIES, protocol_subject  # noqa: E402
from model.published.protocols import PROTOCOLS  # noqa: E402

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


def table() -> list[str]:
    """Return the lines of the table in Markdown."""
    lines = [HEAD, ("---",) * len(HEAD), *rows()]
    return [f"| {' | '.join(line)} |" for line in lines]


def with_table(page: str, lines: list[str]) -> str:
    """Return the page with these lines in place of its last table."""
    before = page.splitlines()
    while before and (before[-1].startswith("|") or not before[-1]):
        before.pop()
    return "\n".join([*before, "", *lines]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), table()), encoding="utf-8")
