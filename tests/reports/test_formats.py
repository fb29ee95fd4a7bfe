"""Formats of reports: by the ending of the name, or pages in a folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from proofka.reports.formats import FORMATS, Answer, UnknownFormat, file_name, format_of, pages
from tests.reports import samples

ANSWER = Answer(samples.DEPLOYMENT, samples.RESULT, samples.COMMAND)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("orders", "orders"), ("../../etc/passwd", "etc-passwd"), ("..", "deployment"), ("a b\nc", "a-b-c")],
)
def test_file_names_stay_in_the_folder(name: str, expected: str) -> None:
    assert file_name(name) == expected


@pytest.mark.parametrize("suffix", FORMATS)
def test_each_format_is_written(suffix: str, tmp_path: Path) -> None:
    ((path, content),) = pages(tmp_path / f"r{suffix.upper()}", [ANSWER])
    assert path == tmp_path / f"r{suffix.upper()}"
    assert content()


def test_a_folder_gets_pages_for_each_deployment(tmp_path: Path) -> None:
    made = dict(pages(tmp_path / "new", [ANSWER]))
    assert list(made) == [tmp_path / "new" / "orders.md", tmp_path / "new" / "orders.html"]
    assert str(made[tmp_path / "new" / "orders.md"]()).startswith("# orders\n")


def test_format_without_its_packages_is_refused_with_the_command_that_installs_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = replace(FORMATS[".pdf"], needs=("no_such_package_here",))
    monkeypatch.setitem(FORMATS, ".pdf", missing)  # type: ignore[arg-type]
    with pytest.raises(UnknownFormat, match=r'needs more packages: pip install "proofka\[pdf\]"'):
        format_of(tmp_path / "r.PDF")


def test_a_name_that_ends_in_no_format_is_refused_and_told_which_there_are(tmp_path: Path) -> None:
    with pytest.raises(
        UnknownFormat, match=r"r\.docx: a report must be a folder, or a file whose name ends in .*\.html"
    ):
        format_of(tmp_path / "r.docx")
    (tmp_path / "v1.2").mkdir()
    assert format_of(tmp_path / "v1.2") is None
