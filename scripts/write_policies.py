"""Write docs/policies/public-rules.md and docs/policies/public-rules.json: decide the rules in public use.

The rules are those of checker/policies/tables/public_rules.yaml. The script takes some minutes.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from proofka.checker.policies.exploring import Limits  # noqa: E402
from proofka.checker.policies.public import decide_public, public_rules  # noqa: E402
from proofka.reports.policy_documents import to_json  # noqa: E402
from proofka.reports.policy_page import page  # noqa: E402

FOLDER = ROOT / "docs" / "policies"
PAGE = FOLDER / "public-rules.md"
DECISIONS = FOLDER / "public-rules.json"


def main() -> None:
    """Decide every rule, and write both files."""
    judged = decide_public(public_rules(), Limits())
    FOLDER.mkdir(exist_ok=True)
    DECISIONS.write_text(to_json(judged), encoding="utf-8")
    PAGE.write_text(page(public_rules(), judged), encoding="utf-8")


if __name__ == "__main__":
    main()
