"""The files of a folder on the lines of a check: files with rejected values first, and all files are counted."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from proofka.model.deployment.dialects.accounting import accounts_of
from proofka.model.deployment.dialects.finding import find
from proofka.model.deployment.dialects.judging import judge
from proofka.model.deployment.dialects.pairing import pair
from proofka.reports.console import console
from proofka.reports.found import FirstFound, FoundReport
from proofka.reports.several import MOST_FOUND


def found(folder: Path, wrong: set[int], files: int, width: int = 80) -> list[str]:
    for number in range(files):
        place = folder / f"service{number}"
        place.mkdir()
        acks = "seven" if number in wrong else "all"
        (place / "producer.properties").write_text(f"bootstrap.servers=b:9092\nacks={acks}\n", encoding="utf-8")
    findings = find(folder, {})
    paired = pair(findings)
    accounts = accounts_of(findings, [judge(one) for one in paired.pipelines])
    written = io.StringIO()
    out = console(written)
    out.width = width
    first = FirstFound(FoundReport(findings, paired, accounts), MOST_FOUND, "proofka show fleet")
    out.print(first)
    told = written.getvalue().splitlines()
    assert len(told) == first.lines(out) <= MOST_FOUND
    return told


def test_pipelines_with_rejected_values_come_first(tmp_path: Path) -> None:
    told = found(tmp_path, {3}, 4)
    assert told[1].startswith("service3/")
    assert "1 rejected" in told[1]
    assert [line.split("/")[0] for line in told[2:5]] == ["service0", "service1", "service2"]
    assert told[-1].strip() == "more: proofka show fleet"


@pytest.mark.parametrize(("wrong", "said"), [({7, 8}, "5 more: "), (set(range(9)), "5 more, 5 of them with rejected")])
def test_pipelines_without_a_line_are_counted(wrong: set[int], said: str, tmp_path: Path) -> None:
    told = found(tmp_path, wrong, 9)
    assert said in told[-1]
    assert "proofka show fleet" in told[-1]


def test_pipelines_that_fit_are_listed_completely(tmp_path: Path) -> None:
    assert any("producer of service0" in line for line in found(tmp_path, set(), 1, 160))


def test_a_line_that_is_too_long_says_so(tmp_path: Path) -> None:
    told = found(tmp_path, set(), 9, 40)
    assert max(map(len, told[:-1])) <= 40
    assert told[1].endswith(" ...")


def test_files_in_no_known_form_are_named_in_one_line(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"queue{number}.rb").write_text('bootstrap_servers: "b:9092"', encoding="utf-8")
    told = found(tmp_path, set(), 9, 100)
    assert told[1] == "not read: queue0.rb, queue1.rb, queue2.rb and 2 more (mention Kafka; no known form)"
    assert told[2].startswith("service0/")
