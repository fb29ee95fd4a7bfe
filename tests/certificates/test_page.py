"""The page of forgeries has every forgery, with the reason of the plain checker as it is now."""

from __future__ import annotations

from tests.certificates.checkers import plain
from tests.certificates.forgeries import FORGERIES
from tests.certificates.page import PAGE, reason, rules


def test_the_page_has_the_reasons_of_the_plain_checker() -> None:
    """Otherwise: python -m tests.certificates.page CERTCHECK"""
    rows = [line.strip("| ").split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:2] == "| "]
    found = [(name, told) for name, told, _ in rows if name != "forgery"]
    expected = [(one.name, reason(plain, one)) for code in rules() for one in FORGERIES if one.rule == code]
    assert found == expected
