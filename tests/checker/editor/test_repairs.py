"""Edits of lines: values are replaced where they stand, in the forms that files have."""

from __future__ import annotations

import pytest

pytest.importorskip("pygls", reason='the library for language servers is not installed: pip install "proofka[lsp]"')

from proofka.checker.cli.editor.hovering import word_at
from proofka.checker.cli.editor.reading import read_text
from proofka.checker.cli.editor.repairs import Edit, _with_value
from proofka.model.deployment.question import question

PROPERTIES = "# producer\nacks=1\nbootstrap.servers=localhost:9092\n"


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("acks=1", "acks=all"),
        ("acks = 1", "acks = all"),
        ("  acks: 1  # why", "  acks: all  # why"),
        ("  - acks: 1", "  - acks: all"),
        ("producer: {acks: 1, retries: 3}", "producer: {acks: all, retries: 3}"),
        ("producer: {acks: 1}", "producer: {acks: all}"),
        ("acks:", "acks:all"),
        ("{a: {acks: 1}, b: {acks: 2}}", None),
        ("acks", None),
    ],
)
def test_value_of_a_line_is_replaced(line: str, after: str | None) -> None:
    assert _with_value(line, "acks", "all") == after


def test_added_lines_come_behind_the_last_one() -> None:
    edit = Edit("", "no-acked-loss", ((0, "a=2"),), ("b=3",))
    assert edit.applied("a=1\nc=1\n") == "a=2\nc=1\nb=3\n"


@pytest.mark.parametrize(("column", "word"), [(0, "acks"), (4, "acks"), (6, ""), (9, "min.insync.replicas")])
def test_word_around_a_column_is_found(column: int, word: str) -> None:
    assert word_at("acks: 1, min.insync.replicas", column) == word


def test_properties_are_read_as_the_file_that_they_are() -> None:
    reading = read_text("producer.properties", PROPERTIES)
    assert [setting.value for setting in reading.settings_at(2) if setting.key == "acks"] == ["1"]


@pytest.mark.parametrize(("name", "text"), [("", "a: 1\n"), ("a.yaml", "\ud800"), ("a.yaml", ""), ("a.yaml", "\0")])
def test_text_that_is_no_configuration_has_problems(name: str, text: str) -> None:
    reading = read_text(name, text)
    assert reading.problems and not reading.deployments


def test_comments_and_places_do_not_change_the_question() -> None:
    one, other = (
        read_text(name, text) for name, text in (("a.properties", PROPERTIES), ("a.properties", "\n" + PROPERTIES))
    )
    assert [question(each) for each in one.deployments] == [question(each) for each in other.deployments]
    third = read_text("a.properties", PROPERTIES.replace("acks=1", "acks=0"))
    assert [question(each) for each in one.deployments] != [question(each) for each in third.deployments]
