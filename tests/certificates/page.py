"""The page docs/forgeries.md: each forged certificate of the registry, with the reasons of both checkers.

``python -m tests.certificates.page CERTCHECK`` writes the page; CERTCHECK is the program in Rust.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.certificates.checkers import ROOT, Checker, answer, plain, program
from tests.certificates.forgeries import FORGERIES
from tests.certificates.forging import Forgery

PAGE = ROOT / "docs" / "forgeries.md"

HEAD = """# Forged certificates

Each rule of [certificates.md](certificates.md) has forged certificates that break the rule. Both checkers refuse every
one of them, and the tables have their reasons. All forgeries are changes of one small certificate, which both checkers
accept: two replicas of a log, with kills and losses of power, and three claims. `no-loss` has a smallest fault set,
`readable` is a goal, and `no "early" read` rests on a covered kind. Where a forgery breaks two rules, a checker can
name the other one, which then stands before the reason.

The registry is `tests/certificates/forgeries.py`; `python -m tests.certificates.page CERTCHECK` writes this page."""

_RULES = re.compile(r"^\| `([\w-]+)` \| (.*) \|$", re.MULTILINE)
_START = re.compile(r"(?:refused: ([\w-]+)|not a certificate): (.*)")


def rules() -> dict[str, str]:
    """Return the rules of certificates.md by code, with the form of the file and the memory."""
    page = (ROOT / "docs" / "certificates.md").read_text(encoding="utf-8")
    table = dict(_RULES.findall(page.partition("\n## The rules\n")[2]))
    return table | {
        "memory": "A checker takes no more memory than `--memory` allows.",
        "format": 'The file breaks a rule of the section "The file", so that the file is no certificate (status 2).',
    }


def text(rust: Checker) -> str:
    """Return the page in Markdown."""
    return "\n".join(_lines(rust)) + "\n"


def reason(checker: Checker, forgery: Forgery) -> str:
    """Return the reason of a checker against a forgery, as a cell; another rule stands before the reason."""
    with tempfile.TemporaryDirectory() as folder:
        found = answer(checker, forgery, Path(folder)).text.replace(folder, "FOLDER").strip()
    refusal = _START.fullmatch(found)
    assert refusal is not None, (forgery, found)
    rule = refusal[1] or "format"
    told = "" if rule == forgery.rule else f"{rule}: "
    return f"{told}{refusal[2]}".replace("|", "/").replace("<", "&lt;")


def _lines(rust: Checker) -> Iterator[str]:
    yield HEAD
    for code, rule in rules().items():
        yield f"\n## `{code}`\n\n{rule[0].upper()}{rule[1:]}\n"
        yield "| forgery | `certcheck.py` | `certcheck` |\n|---|---|---|"
        for forgery in FORGERIES:
            if forgery.rule == code:
                yield f"| {forgery.name} | {reason(plain, forgery)} | {reason(rust, forgery)} |"


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("certcheck", type=Path, help="the checker in Rust")
    PAGE.write_text(text(program(parser.parse_args().certcheck)), encoding="utf-8")


if __name__ == "__main__":
    main()
