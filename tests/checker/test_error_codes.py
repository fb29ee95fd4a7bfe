"""The codes of errors: each is of one error alone, and ``proofka help CODE`` explains every code."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from pathlib import Path

from proofka.checker.cli.error_codes import errors, meaning_of_code
from proofka.checker.project.errors import codes
from proofka.model.input.coded_error import CodedError
from proofka.reports.guide.entry import rows_of

ROOT = Path(__file__).parents[2]


def own_codes() -> list[str]:
    """Return the code of each class of errors that has a code of its own."""
    return [str(found) for error in set(errors()) if (found := error.__dict__.get("code")) is not None]


def test_no_two_errors_and_no_rule_have_the_same_code() -> None:
    rules = [row["id"] for row in rows_of("proofka.reports.guide", "tables/rules.csv")]
    counts = Counter([*own_codes(), *codes(), *rules])
    assert len(counts) > 100
    assert not [code for code, count in counts.items() if count > 1]


def test_every_code_is_explained() -> None:
    for code in [*own_codes(), *codes()]:
        meaning = meaning_of_code(code.lower())
        assert meaning is not None and meaning.startswith(f"{code} is the code of an error"), code


def test_every_module_of_errors_with_codes_is_known() -> None:
    for path in (ROOT / "checker").rglob("errors.py"):
        import_module(".".join(("proofka", *path.relative_to(ROOT).with_suffix("").parts)))
    known, waiting = set(errors()), [CodedError]
    while waiting:
        error = waiting.pop()
        waiting += error.__subclasses__()
        assert "code" not in error.__dict__ or error in known, error
