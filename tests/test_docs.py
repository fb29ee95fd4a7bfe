"""The pages for people: links lead somewhere, names exist, the README stays short, and the glossary is in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from proofka.model.deployment.dialects.recognising import DIALECTS
from proofka.model.faults import ONLY_BY_NAME, Fault

ROOT = Path(__file__).parent.parent
WRITTEN = (
    *ROOT.glob("*.md"),
    *(page for folder in ("", "decisions", "upstream") for page in (ROOT / "docs" / folder).glob("*.md")),
)
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in WRITTEN)
"""The pages at the top and in docs; ``proofka claims`` writes those of claims and findings."""

REPLACED = re.compile(r"second looks?|thrown out|taken for granted|as they lie|for good\b|for ever\b", re.IGNORECASE)
"""Words for which the glossary has terms, and metaphors."""

QUOTES_REPLACED_WORDS = {
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docs/glossary.md",
    "docs/claims.md",
    "docs/defects.md",
    "docs/findings.md",
}
"""The history, the rules of words, the glossary, and pages that are generated."""

NAMES_CODE = ("docs/tour.md", "CONTRIBUTING.md")
"""Pages whose files and functions must exist."""

FOLDERS = ("model", "properties", "checker", "reports", "tests", "scripts", "docs", "examples")
MOST_LINES = 100
"""Lines of the README before its links: two screens."""

LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
FILE = re.compile(rf"(?:{'|'.join(FOLDERS)})/[\w./-]*")
FUNCTION_IN_FILE = re.compile(r"`(?P<name>[A-Za-z_][\w.]*)` (?:in|of|\() ?`(?P<file>[\w/-]+\.py)`")


@cache
def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def anchors_of(page: str) -> set[str]:
    """Return the places in a page that a link can name, as GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.*)$", FENCED.sub("", text_of(page)), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files_and_headings(page: str) -> None:
    for link in LINK.finditer(FENCED.sub("", text_of(page))):
        target, _, place = link["target"].partition("#")
        if target.startswith(("http:", "https:")):
            continue
        path = ((ROOT / page).parent / target).resolve() if target else ROOT / page
        assert path.exists(), f"{page}: {link['target']}"
        if place and path.suffix == ".md":
            assert place in anchors_of(path.relative_to(ROOT).as_posix()), f"{page}: {link['target']}"


@pytest.mark.parametrize("page", sorted({*PAGES} - QUOTES_REPLACED_WORDS))
def test_pages_use_the_terms_of_the_glossary(page: str) -> None:
    text = re.sub(r"decisions/[\w.-]+", "", " ".join(text_of(page).split()))
    assert not REPLACED.findall(text)


def files_named(page: str) -> Iterator[str]:
    for code in CODE.findall(FENCED.sub("", text_of(page))):
        if FILE.fullmatch(code):
            yield code


@pytest.mark.parametrize("page", NAMES_CODE)
def test_named_files_exist(page: str) -> None:
    named = list(files_named(page))
    assert named
    assert not [file for file in named if not (ROOT / file).exists()]


def test_the_tour_names_functions_that_exist() -> None:
    """A name in front of a file is defined there, as a function, method, class or constant."""
    found = list(FUNCTION_IN_FILE.finditer(text_of("docs/tour.md")))
    assert len(found) > 20
    for one in found:
        code = text_of(one["file"])
        for part in one["name"].split("."):
            assert re.search(rf"^\s*(?:def|class) {part}\b|^{part}\b", code, re.MULTILINE), one.group()


def test_the_deployment_format_lists_every_fault() -> None:
    """The section of faults names each kind, and its table names those that happen only where they are named."""
    section = text_of("docs/deployment-format.md").partition("\n## assume: faults\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `([\w-]+)`", section, re.MULTILINE)) == {kind.value for kind in ONLY_BY_NAME}
    assert not [kind.value for kind in Fault if f"`{kind.value}`" not in section]


def test_the_page_of_dialects_describes_every_dialect() -> None:
    """``show`` names the dialect of a file, and the page has a row or a paragraph for that name."""
    page = text_of("docs/dialects.md").lower()
    assert not [dialect.name for dialect in DIALECTS if dialect.name.lower() not in page]


def test_the_readme_fits_two_screens_before_its_links() -> None:
    before, _, links = text_of("README.md").partition("\n## Links\n")
    assert links
    assert len(before.splitlines()) <= MOST_LINES


def test_the_glossary_is_in_alphabetical_order_and_names_each_term_once() -> None:
    rows = [line.split("|")[1].strip() for line in text_of("docs/glossary.md").splitlines() if line.startswith("| ")]
    terms = rows[1:]
    assert terms == sorted(set(terms), key=str.lower)
