"""Write docs/project-file.md and docs/proofka.schema.json from the tables of checker/project. Run this script if a test
reports that one of the two differs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from proofka.checker.project.errors import codes  # noqa: E402
from proofka.checker.project.keys import Key, Kind, keys  # noqa: E402
from proofka.checker.project.schema import schema  # noqa: E402

PAGE = ROOT / "docs" / "project-file.md"
SCHEMA = ROOT / "docs" / "proofka.schema.json"

HEAD = """# The project file

`proofka.yaml` says which pipelines a repository has, and what they have to survive. `proofka init` finds the pipelines
of a folder and writes the file. `proofka check` without a PATH reads the file in the current folder, checks all of its
pipelines, and ends with one status for all (`proofka check DIR/proofka.yaml` reads the file of another folder).

```yaml
pipelines:
  - services/payments          # a folder, with files of any dialect
  - path: deploy/*.yaml        # a pattern; ** stands for any folders
    profile: exactly-once
  - path: batch/nightly.yaml
    budget: batch
    assume:
      processing: handed-off

budget: production

budgets:
  production:                  # one broker and one application at a time
    total: 2
    kill: 1
    producer-crash: 1
    consumer-crash: 1
  batch:                       # any one fault of any kind
    total: 1

accepted:
  - property: no-reprocessing
    until: 2027-01-31
    reason: the sink becomes idempotent in January
    pipelines: [deploy/*.yaml]
```

What the file says has the effect of options: `assume` that of `--assume`, `require` and `profile` those of `--require`
and `--profile`, `kafka` that of `--kafka`, and a budget that of `--assume faults.KIND=N`. So values of the project file
outrank those of a pipeline's own files, and options of the command line (`--faults`, `--require`, `--profile`) outrank
the project file. Each report has the command that repeats the check of one pipeline without the project file. Options
that describe one source (`--assume`, `--kafka`, `--set` and so on) are refused together with a project file.

A budget replaces the faults of a pipeline's own file: kinds that the budget does not name cannot happen, unless the
budget names none; then all kinds can happen. `proofka help kill` explains a kind of fault.

A pipeline that cannot be read does not keep the others from being checked: a line on standard error names its place,
and the command ends with 2 unless a required property is violated (1).

## What is accepted

An entry of `accepted` lifts the requirement of one property until a day. So does a comment in a file of the pipeline,
with the signs of that file's language:

```yaml
# proofka: accept no-reprocessing until 2027-01-31, the sink becomes idempotent in January
```

Until the end of that day (in UTC) the property is checked and shown but not required, and every report lists the
acceptance with its reason and place. From the next day on the property is required again, and the command ends with 2
(or 1, if a required property is violated) until the entry or comment is renewed or removed, even where the property
holds. A comment is about the pipelines whose values come from its file, in each check and not only in those of a
project file. `--fail-on P` counts P also where its violation is accepted.

## Rates

The section `rates` has the rates of faults and of common causes. From these `proofka risk` computes the expected number
of violations a year ([risk.md](risk.md#rates)). No other command reads the section.

```yaml
rates:
  faults:
    kill: {rate: 4/year, per: broker, lasts: 10min}
  causes:
    rack: {rate: 0.05/year, lasts: 2h, faults: 2 kill}
```

## Editors

[proofka.schema.json](proofka.schema.json) is a JSON Schema of the file: editors complete and check keys and values with
it. Copy it beside the project file, and write this into the first line for the YAML language server:

```yaml
# yaml-language-server: $schema=proofka.schema.json
```

## Keys

| key | value | meaning |
|---|---|---|"""

ERRORS = """
## Errors

Each message names file, line and key, says what to do, and ends with a code. All errors of a file are listed together.

| code | error | instead |
|---|---|---|"""

VALUES = {
    Kind.TEXT: "text",
    Kind.PATTERN: "path or pattern",
    Kind.PATTERNS: "list of paths or patterns",
    Kind.CHOICE: "name",
    Kind.CHOICES: "list of names",
    Kind.BUDGET: "name of a budget",
    Kind.DATE: "day",
    Kind.VALUES: "keys with values",
    Kind.SECTIONS: "list of entries",
    Kind.NAMED: "names, each with keys",
    Kind.SECTION: "keys",
}


def text() -> str:
    """Return the page in Markdown."""
    return "\n".join(_lines()) + "\n"


def schema_text() -> str:
    """Return the schema as text."""
    return json.dumps(schema(), indent=2) + "\n"


def _lines() -> Iterator[str]:
    yield HEAD
    yield from map(_row, keys())
    yield ERRORS
    for code, row in codes().items():
        yield f"| {code} | {row['what']} | {row['instead']} |"


def _row(key: Key) -> str:
    needed = ", needed" if key.needed else ""
    return f"| `{key.path.replace('*', 'NAME')}` | {VALUES[key.kind]}{needed} | {key.what} |"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
    SCHEMA.write_text(schema_text(), encoding="utf-8")
