"""The project file: what the reader takes, its errors with places and codes, and the files made from its tables."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from proofka.checker.project.errors import ProjectError, codes
from proofka.checker.project.keys import Kind, choices_of, keys
from proofka.checker.project.project import Project
from proofka.checker.project.reading import read_project
from proofka.checker.project.schema import schema
from scripts import write_project_file

ROOT = Path(__file__).parents[3]

WHOLE = """\
pipelines:
  - services/payments
  - path: deploy/*.yaml
    kafka: 3.9
    profile: exactly-once
    budget: batch
    assume: {processing: handed-off}
exclude: [deploy/old.yaml]
kafka: "4.0"
budget: production
require: [no-acked-loss]
assume: {processing: poll-thread, network: 0..50ms, bounds.records: 1}
budgets:
  production: {total: 2, kill: 1, consumer-crash: 1}
  batch: {total: any}
accepted:
  - property: no-reprocessing
    until: 2027-01-31
    reason: the sink
    pipelines: [deploy/*.yaml]
rates:
  faults:
    kill: {rate: 4/year, per: broker, lasts: 10min}
    consumer-crash: {rate: 0.5 / month, per: pipeline, lasts: 90s, exposure: 0.25}
  causes:
    rack: {rate: 2e-2/year, lasts: 1d, faults: "2 power-loss, kill"}
"""

RATED = "pipelines: [a]\nrates:\n  faults:\n    {}\n  causes: {{}}\n"
"""A project file with the rate of a fault in line 4."""

WRONG = (
    ("pipelines: [a]\nx: 1\n", "W02", 2),
    ("pipelines: [a]\nbudgets: {b: {totl: 1, total: 1}}\n", "W02", 2),
    ("exclude: [a]\n", "W03", 1),
    ("pipelines: [a]\nbudgets: {b: {kill: 1}}\n", "W03", 2),
    ("pipelines: [a]\naccepted:\n  - property: no-skip\n    until: 2027-01-01\n", "W03", 3),
    ("pipelines: a\n", "W04", 1),
    ("pipelines: [a]\nrequire: no-skip\n", "W04", 2),
    ("pipelines: [a]\nrequire: [no-skip, no-skip]\n", "W04", 2),
    ("pipelines: [a]\nassume: {processing: [a]}\n", "W04", 2),
    ("pipelines: [a]\naccepted: [no-skip]\n", "W04", 2),
    ("pipelines: [a]\nprofile: at-least-twice\n", "W05", 2),
    ("pipelines: [a]\nassume: {processing: worker}\n", "W05", 2),
    ("pipelines: [a]\nassume: {network: fast}\n", "W06", 2),
    ("pipelines: [a]\nbudgets: {b: {total: 21}}\n", "W06", 2),
    ("pipelines: [a]\naccepted:\n  - {property: no-skip, until: 31.1.2027, reason: r}\n", "W06", 3),
    ("pipelines: [a]\nbudget: b\n", "W07", 2),
    ("pipelines: [../a]\n", "W09", 1),
    ("pipelines: [/a]\n", "W09", 1),
    (RATED.format("boiling: {rate: 1/year, per: broker, lasts: 1h}"), "W02", 4),
    (RATED.format("kill: {rate: 1/year, per: broker, last: 1h}"), "W02", 4),
    (RATED.format("kill: {rate: 1/year, lasts: 1h}"), "W03", 4),
    ("pipelines: [a]\nrates: {faults: {}}\n", "W03", 2),
    ("pipelines: [a]\nrates: {faults: {}, causes: {r: {rate: 1/year, lasts: 1h}}}\n", "W03", 2),
    ("pipelines: [a]\nrates: none\n", "W04", 2),
    (RATED.format("kill: often"), "W04", 4),
    (RATED.format("kill: {rate: 1/year, per: rack, lasts: 1h}"), "W05", 4),
    ("- a\n", "W01", 1),
    ("pipelines: [a\n", "W01", 2),
)


def written(folder: Path, text: str) -> Path:
    file = folder / "proofka.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def read(folder: Path, text: str) -> Project:
    return read_project(written(folder, text))


def test_values_of_the_whole_file_are_those_of_entries_without_own_values(tmp_path: Path) -> None:
    short, long = read(tmp_path, WHOLE).entries
    assert (short.pattern, short.kafka, short.profile, short.require) == (
        "services/payments",
        "4.0",
        None,
        ("no-acked-loss",),
    )
    assert short.assume == ("processing=poll-thread", "network=0..50ms", "bounds.records=1")
    assert short.budget == {"total": "2", "kill": "1", "consumer-crash": "1"}
    assert (long.kafka, long.profile, long.require) == ("3.9", "exactly-once", ())
    assert long.assume[0] == "processing=handed-off"
    assert long.budget == {"total": "any"}


def test_acceptances_have_their_day_reason_and_place(tmp_path: Path) -> None:
    (one,) = read(tmp_path, WHOLE).accepted
    assert (one.name, one.until, one.reason, one.line) == ("no-reprocessing", date(2027, 1, 31), "the sink", 17)
    assert one.patterns == ("deploy/*.yaml",)


@pytest.mark.parametrize(("text", "code", "line"), WRONG)
def test_errors_have_a_place_and_a_code(text: str, code: str, line: int, tmp_path: Path) -> None:
    with pytest.raises(ProjectError) as caught:
        read(tmp_path, text)
    assert (caught.value.code, caught.value.line) == (code, line)
    assert re.fullmatch(rf".*/proofka\.yaml:{line}: .*\({code}\)", str(caught.value))


def test_all_errors_are_listed_together(tmp_path: Path) -> None:
    with pytest.raises(ProjectError) as caught:
        read(tmp_path, "x: 1\nrequire: [no-los]\n")
    assert [one.code for one in (caught.value, *caught.value.others) if isinstance(one, ProjectError)] == [
        "W02",
        "W05",
        "W03",
    ]


def test_misspelt_names_have_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="did you mean no-acked-loss"):
        read(tmp_path, "pipelines: [a]\nrequire: [no-acked-los]\n")


def test_pattern_that_begins_with_an_asterisk_needs_quotes(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=r"proofka.yaml:2: .*put a pattern that begins with \* into quotes \(W01\)"):
        read(tmp_path, "pipelines:\n  - **/kafka.yaml\n")
    assert read(tmp_path, "pipelines: ['**/kafka.yaml']\n").entries[0].pattern == "**/kafka.yaml"


def valid(text: str) -> bool:
    document = YAML(typ="safe", pure=True).load(text)
    document = _days_as_text(document)
    return bool(Draft202012Validator(schema()).is_valid(document))


def _days_as_text(value: object) -> object:
    """Return the document as editors see it: a day is a text."""
    if isinstance(value, dict):
        return {key: _days_as_text(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return list(map(_days_as_text, value))
    return value.isoformat() if isinstance(value, date) else value


def test_schema_accepts_a_file_of_the_reader() -> None:
    Draft202012Validator.check_schema(schema())
    assert valid(WHOLE)


@pytest.mark.parametrize(("text", "code"), [(text, code) for text, code, _ in WRONG if code in ("W02", "W03", "W04")])
def test_schema_refuses_forms_that_the_reader_refuses(text: str, code: str) -> None:
    assert not valid(text), code


WITH_CHOICES = (Kind.CHOICE, Kind.CHOICES, Kind.VALUES)


def test_schema_has_the_values_of_every_choice() -> None:
    text = str(schema())
    for key in keys():
        assert all(f"'{name}'" in text for name in choices_of(key)), key.path
        assert key.choices == "" or choices_of(key), key.path
        assert key.kind is Kind.NAMED or (key.kind in WITH_CHOICES) == bool(key.choices), key.path


def test_page_and_schema_are_those_of_the_tables() -> None:
    """Otherwise: python scripts/write_project_file.py"""
    assert write_project_file.PAGE.read_text(encoding="utf-8") == write_project_file.text()
    assert write_project_file.SCHEMA.read_text(encoding="utf-8") == write_project_file.schema_text()


def test_example_of_the_page_is_a_project_file(tmp_path: Path) -> None:
    page = write_project_file.text()
    example = page[page.index("```yaml\n") + 8 :].partition("```")[0]
    assert len(read(tmp_path, example).entries) == 3
    assert valid(example)


def test_every_code_is_raised_and_every_raised_code_is_known() -> None:
    sources = [*(ROOT / "checker" / "project").glob("*.py"), *(ROOT / "checker" / "cli").glob("*.py")]
    raised = {code for path in sources for code in re.findall(r'"(W[0-9]{2})"', path.read_text(encoding="utf-8"))}
    assert raised == set(codes())
