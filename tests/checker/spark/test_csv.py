"""The records of a CSV inventory: the line on which each begins, whatever stands in between."""

from __future__ import annotations

from unittest.mock import patch

from proofka.checker.spark import csv_file
from proofka.checker.spark.csv_file import CORRUPT, csv_records


def records(text: str) -> list[tuple[int, dict[str, str]]]:
    return list(csv_records(text.encode()))


def test_lines_are_those_of_the_file() -> None:
    """An empty line and a line break within quotes count, and a byte order mark does not."""
    found = records('\ufeffname,producer.acks\na,1\n\nb,"all\n"\r\nc,0\n ,\nd,1')
    assert found == [
        (2, {"name": "a", "producer.acks": "1"}),
        (4, {"name": "b", "producer.acks": "all\n"}),
        (6, {"name": "c", "producer.acks": "0"}),
        (8, {"name": "d", "producer.acks": "1"}),
    ]


def test_an_empty_cell_is_no_key() -> None:
    assert records("name,kafka\na,\n,4.0\n") == [(2, {"name": "a"}), (3, {"kafka": "4.0"})]


def test_cells_that_do_not_fit_the_header() -> None:
    assert records("name,kafka\na\na,4.0,5\nb,4.0\n") == [
        (2, {CORRUPT: "has 1 cells, and the header 2"}),
        (3, {CORRUPT: "has 3 cells, and the header 2"}),
        (4, {"name": "b", "kafka": "4.0"}),
    ]


def test_a_column_that_is_there_twice() -> None:
    """Nobody can tell which of the two counts, so no row is read."""
    assert records("kafka, kafka\n4.0,3.9\n") == [(1, {CORRUPT: "has the column kafka twice"})]


def test_text_that_is_not_csv_becomes_one_corrupt_row() -> None:
    """The row does not end the audit, and says that no later text is read."""
    with patch.object(csv_file, "LONGEST_CELL", 10):
        *before, row = records("name\na\n" + "x" * 20 + "\nb\n")
    assert before == [(2, {"name": "a"})]
    assert row[0] == 3
    assert row[1][CORRUPT].startswith("is no CSV from here on: ")


def test_a_long_cell() -> None:
    assert records("name\n" + "x" * 200_000 + "\nb\n") == [(2, {"name": "x" * 200_000}), (3, {"name": "b"})]


def test_empty_file_has_no_records() -> None:
    assert records("") == records("\n\n") == records("name,kafka\n") == []
