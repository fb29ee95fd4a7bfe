"""The releases that have a defect: lines with backports, lines without a patch number, releases before 1.0."""

from __future__ import annotations

import pytest

from proofka.properties.known_defects.affected import Affected, line_of, release_from


def affected(first: str, last: str, fixed: str) -> Affected:
    return Affected(release_from(first), release_from(last), tuple(map(release_from, fixed.split())))


BACKPORTED = affected("2.8.0", "4.1.1", "3.9.2 4.0.2 4.1.2 4.2.0")
OLD = affected("0.10.2.1", "2.0.0", "0.11.0.3 1.1.1 2.0.1 2.1.0")
OPEN = affected("1.4.0", "2.2.4", "")
OF_A_LIBRARY = affected("0.8.0", "0.10.0", "0.11.0")
FROM_THE_START = affected("", "1.4.0", "1.4.2")


@pytest.mark.parametrize(
    ("releases", "text", "has"),
    [
        (BACKPORTED, "2.7.2", False),
        (BACKPORTED, "2.8.0", True),
        (BACKPORTED, "3.8.1", True),
        (BACKPORTED, "3.9.1", True),
        (BACKPORTED, "3.9.2", False),
        (BACKPORTED, "4.0.2", False),
        (BACKPORTED, "4.1.1", True),
        (BACKPORTED, "4.2.0", False),
        (BACKPORTED, "4.3.0", False),
        (BACKPORTED, "3.9", True),
        (BACKPORTED, "4.2", False),
        (BACKPORTED, "2.7", False),
        (OLD, "0.10.2.0", False),
        (OLD, "0.10.2.1", True),
        (OLD, "0.10.2", True),
        (OLD, "0.11.0.2", True),
        (OLD, "0.11.0.3", False),
        (OLD, "0.11", True),
        (OLD, "1.1.0", True),
        (OLD, "1.1.1", False),
        (OLD, "2.1", False),
        (OPEN, "1.3.9", False),
        (OPEN, "2.2.4", True),
        (OPEN, "9.0.0", True),
        (OF_A_LIBRARY, "0.7.2", False),
        (OF_A_LIBRARY, "0.9.0", True),
        (OF_A_LIBRARY, "0.10", True),
        (OF_A_LIBRARY, "0.10.0", True),
        (OF_A_LIBRARY, "0.11.0", False),
        (OF_A_LIBRARY, "0.12.0", False),
        (FROM_THE_START, "0.9.0", True),
        (FROM_THE_START, "1.4.2", False),
    ],
)
def test_releases_that_have_a_defect(releases: Affected, text: str, has: bool) -> None:
    assert releases.has(release_from(text)) is has


def test_lines() -> None:
    assert line_of((3, 9, 1)) == (3, 9)
    assert line_of((0, 11, 0, 2)) == (0, 11, 0)
    assert line_of((4, 1)) == (4, 1)
    assert release_from("3.9.1-IV0") == (3, 9, 1)
    assert release_from("trunk") == ()
