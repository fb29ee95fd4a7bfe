"""Write tests/seconds.csv, the table of tests that take a second or longer, from the durations of a run.

    python -m pytest -m "not slow and not cluster" -n 2 --dist loadgroup --no-loadscope-reorder --junitxml=RUN.xml
    python scripts/write_seconds.py RUN.xml [--least SECONDS]

The durations of all cases of a test count together, and those of the fixtures that its cases set up. Tests that the run
did not have keep their rows. Measure on a quiet machine.
"""

from __future__ import annotations

import argparse
import csv
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
SECONDS = ROOT / "tests" / "seconds.csv"
ALWAYS = ("tests/test_architecture.py", "tests/test_words.py", "tests/test_docs.py")
"""Files of the rules of the house, which `make test` runs even if they take seconds: every change can break them."""


def named() -> list[str]:
    """Return the tests of the table: functions, and files of which all tests count."""
    with SECONDS.open(encoding="utf-8", newline="") as table:
        return [row["test"] for row in csv.DictReader(table)]


def durations(run: Path) -> Counter[str]:
    """Return the seconds of each test, all cases together, by file and function."""
    found: Counter[str] = Counter()
    for case in ET.parse(run).iter("testcase"):
        file = case.attrib["classname"].replace(".", "/") + ".py"
        found[f"{file}::{case.attrib['name'].partition('[')[0]}"] += float(case.attrib["time"])
    return found


def rows(found: Counter[str], before: list[str], least: float) -> list[str]:
    """Return the tests of the table: the slow ones of a run, and earlier ones that the run did not have."""
    files = {test.partition("::")[0] for test in found}
    kept = {test for test in before if (test not in found if "::" in test else test not in files)}
    whole = {test for test in before if "::" not in test}
    slow = {test for test, seconds in found.items() if seconds >= least and test.partition("::")[0] not in whole}
    return sorted(test for test in kept | slow | whole if not test.startswith(ALWAYS))


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--least", type=float, default=1.0)
    asked = parser.parse_args()
    tests = rows(durations(asked.run), named(), asked.least)
    with SECONDS.open("w", encoding="utf-8", newline="") as table:
        writer = csv.writer(table, lineterminator="\n")
        writer.writerows([("test",), *((test,) for test in tests)])
    print(f"{len(tests)} tests", file=sys.stderr)


if __name__ == "__main__":
    main()
