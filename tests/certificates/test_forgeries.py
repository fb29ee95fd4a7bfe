"""The registry of forgeries: the plain checker refuses each one by its rule, and accepts what makes no difference."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.certificates.checkers import ROOT, answer, expected, plain
from tests.certificates.forged_archive import DECLARED_BOMB
from tests.certificates.forged_form import TOO_LARGE
from tests.certificates.forgeries import FORGERIES, HARMLESS
from tests.certificates.forging import Forgery
from tests.certificates.proving import toy_certificate
from tests.certificates.writing import certificate_file

PAGE = (ROOT / "docs" / "certificates.md").read_text(encoding="utf-8")
CODES = re.findall(r"^\| `([\w-]+)` \| ", PAGE.partition("\n## The rules\n")[2], re.MULTILINE)
"""The codes of the page's table of rules."""


def test_each_rule_of_the_page_has_a_forgery() -> None:
    assert len(CODES) >= 13
    assert {forgery.rule for forgery in FORGERIES} == {*CODES, "format", "memory"}


def test_the_names_of_forgeries_are_unique() -> None:
    names = [str(forgery) for forgery in (*FORGERIES, *HARMLESS)]
    assert len({*names}) == len(names)


@pytest.mark.parametrize("forgery", FORGERIES, ids=str)
def test_a_forgery_is_refused_by_its_rule(forgery: Forgery, tmp_path: Path) -> None:
    assert forgery.content() != certificate_file(toy_certificate()) or forgery.system is not None or forgery.memory
    found = answer(plain, forgery, tmp_path)
    assert expected(forgery, found), found


@pytest.mark.parametrize("forgery", TOO_LARGE, ids=str)
def test_the_plain_checker_takes_systems_of_any_size(forgery: Forgery, tmp_path: Path) -> None:
    assert answer(plain, forgery, tmp_path).status == 0


def test_a_member_is_no_larger_than_its_content(tmp_path: Path) -> None:
    assert answer(plain, DECLARED_BOMB, tmp_path).text == "not a certificate: 0/0.0 has another size\n"


@pytest.mark.parametrize("forgery", HARMLESS, ids=str)
def test_a_change_that_makes_no_difference_is_accepted(forgery: Forgery, tmp_path: Path) -> None:
    found = answer(plain, forgery, tmp_path)
    assert found.status == 0, found
    assert found.text.count("accepted: ") == sum(len(part.claims) for part in toy_certificate().parts) + (
        forgery.name == "a part with two claims"
    )
