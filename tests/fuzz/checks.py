"""Random questions to ``proofka check``: deployments and .properties files with random settings and broken places.

``python -m tests.fuzz.checks SECONDS [SEED]`` asks questions for a while, and prints each one that ends wrongly.
"""

from __future__ import annotations

import csv
import json
import random
import re
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from typer.testing import CliRunner

from proofka.checker.cli.program import app
from proofka.model.deployment.reasons import find_reason

ROOT = Path(__file__).parents[2]
TABLES = ROOT / "model" / "deployment" / "tables"
QUICKLY = ("--faults", "0", "--more", "0", "--memory", "2G", "--time", "20")
ENDINGS = frozenset(range(5))
"""Exit statuses of a check that ends as documented."""

MANY = (0, 1, 2, 3, 5, -1, 100, 30_000, 120_000, 2**31 - 1, 2**63 - 1, 2**63)
"""Whole numbers for any setting: usual ones, and limits of Java's types."""

WORDS = (
    "true",
    "false",
    "all",
    "none",
    "earliest",
    "latest",
    "compact",
    "delete",
    "read_committed",
    "",
    "ünknown",
    "x",
)
"""Texts for any setting."""

BROKEN = ("", "\n", ":", "=", "{", "}", "[", "- ", "'", '"', "\t", "\0", "\u2028", "&a", "*a", "<<: ", "!!int ")
"""Pieces that break or change a text."""

ROLES = ("producer", "consumer", "topic", "broker")


@dataclass(frozen=True)
class Asked:
    """A question: files by name, and the arguments of ``proofka check`` that name these files."""

    files: dict[str, str]
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Ended:
    """The end of a check: the exit status, the output, and the error that escaped, if any."""

    status: int
    output: str
    error: BaseException | None

    @property
    def complaint(self) -> str | None:
        """The reason why the check ended wrongly; None if it ended as documented."""
        if self.error is not None and not isinstance(self.error, SystemExit):
            return f"an error escaped: {self.error!r}"
        if self.status not in ENDINGS:
            return f"exit status {self.status}"
        if "Traceback" in self.output or "no verdict:" in self.output:
            return "the output has a traceback, or a trace that Z3 does not confirm"
        if self.status == 2 and not self.output.strip():
            return "bad input without a message"
        return None


def question(seed: int) -> Asked:
    """Return the question of a seed."""
    chance = random.Random(seed)
    if chance.random() < 0.3:
        return _of_properties(chance)
    text = in_yaml(chance.choice((of_deployment, of_libraries))(chance))
    return Asked({"deployment.yaml": _broken(chance, text)}, ("deployment.yaml",))


def ask(asked: Asked, folder: Path) -> Ended:
    """Write the files into ``folder`` and run the check."""
    named = [str(folder / one) if one in asked.files else one for one in asked.arguments]
    for name, text in asked.files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    run = CliRunner().invoke(app, ["check", *named, *QUICKLY])
    return Ended(run.exit_code, run.output, run.exception)


def of_deployment(chance: random.Random) -> dict[str, Any]:
    """Return an example with random settings, sometimes of another release."""
    deployment: dict[str, Any] = YAML(typ="safe").load(chance.choice(_examples()))
    for role in chance.sample(ROLES, chance.randint(0, 3)):
        settings = deployment.setdefault(role, {}).setdefault("settings", {})
        settings.update(_settings(chance, role))
    if chance.random() < 0.5:
        deployment["kafka"] = chance.choice(_releases())
    return deployment


def _of_properties(chance: random.Random) -> Asked:
    """Return a question about some .properties files of a release."""
    roles = chance.sample(ROLES, chance.randint(1, len(ROLES)))
    files = {
        f"{role}.properties": _broken(chance, "\n".join(map("=".join, _settings(chance, role).items())))
        for role in roles
    }
    arguments = [word for role in roles for word in (f"--{role}", f"{role}.properties")]
    if chance.random() < 0.9:
        arguments += ["--kafka", chance.choice(_releases())]
    return Asked(files, tuple(arguments))


def of_libraries(chance: random.Random) -> dict[str, Any]:
    """Return a deployment with clients of other libraries."""
    deployment: dict[str, Any] = {"kafka": chance.choice(_releases())}
    for role in ("producer", "consumer"):
        library, releases = chance.choice(_libraries())
        settings = _settings(chance, f"{library} {role}")
        deployment[role] = {"client": library, "version": chance.choice(releases), "settings": settings}
    return deployment


def in_yaml(deployment: Mapping[str, Any]) -> str:
    """Return a deployment as a text; JSON is YAML."""
    return json.dumps(deployment, ensure_ascii=False, indent=1)


def _settings(chance: random.Random, role: str) -> dict[str, str]:
    chosen = dict(chance.sample(_settings_of(role), chance.randint(1, 4)))
    return {key: _value(chance, definition) for key, definition in chosen.items()}


def _value(chance: random.Random, definition: Mapping[str, str]) -> str:
    """Return a value of the setting's type in most cases, else any value."""
    if chance.random() < 0.03:
        return chance.choice((*WORDS, *map(str, MANY)))
    kind, valid = definition["type"], definition["valid"]
    if kind in ("boolean", "flag"):
        return chance.choice(("true", "false"))
    if "|" in valid and ">=" not in valid:
        return chance.choice(valid.rpartition(":")[2].split("|"))
    if kind in ("int", "long", "short", "double"):
        low = next((int(one) for one in re.findall(r"-?[0-9]+", valid)), 0)
        return str(low + chance.choice((0, 1, 2, 100, 30_000) if kind in ("int", "long") else (0, 1)))
    return definition["default"] or "x"


def _broken(chance: random.Random, text: str) -> str:
    """Return the text as it is in most cases, else with some pieces replaced."""
    for _ in range(chance.choice((0, 0, 0, 0, 0, 0, 0, 0, 1, 3))):
        at = chance.randint(0, len(text))
        text = text[:at] + chance.choice(BROKEN) + text[at + chance.randint(0, 9) :]
    return text


@cache
def _examples() -> Sequence[str]:
    return [path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples").glob("*.yaml"))]


@cache
def _releases() -> Sequence[str]:
    with (TABLES / "releases.csv").open(encoding="utf-8", newline="") as file:
        return ["0.9", "3.9.9", "5.0", *(next(iter(row.values())) for row in csv.DictReader(file))]


@cache
def _libraries() -> Sequence[tuple[str, Sequence[str]]]:
    """Return the libraries that have settings for both clients, with their releases."""
    with (ROOT / "properties" / "known_defects" / "tables" / "releases.csv").open(encoding="utf-8", newline="") as file:
        found = [(row["product"], row["releases"].split()) for row in csv.DictReader(file)]
    both = [one for one in found if (TABLES / "clients" / f"{one[0]}.csv").exists()]
    return [one for one in both if _settings_of(f"{one[0]} producer") and _settings_of(f"{one[0]} consumer")]


@cache
def _settings_of(role: str) -> Sequence[tuple[str, Mapping[str, str]]]:
    """Return the settings of a role by key, with their last definition; ``librdkafka producer`` is a role as well.

    A setting that has no reason to be ignored comes five times.
    """
    library, _, _ = role.rpartition(" ")
    table = TABLES / "clients" / f"{library}.csv" if library else TABLES / "defaults.csv"
    with table.open(encoding="utf-8", newline="") as file:
        found = {row["key"]: row for row in csv.DictReader(file) if row["scope"] == role}
    return [
        one for one in sorted(found.items()) for _ in range(5 if library or find_reason(role, one[0]) is None else 1)
    ]


def main() -> None:
    """Ask questions for a number of seconds, from a seed on, and print those that end wrongly."""
    seconds, seed = float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    end = time.monotonic() + seconds
    statuses: dict[int, int] = {}
    while time.monotonic() < end:
        with tempfile.TemporaryDirectory() as folder:
            asked = question(seed)
            ended = ask(asked, Path(folder))
        statuses[ended.status] = statuses.get(ended.status, 0) + 1
        if ended.complaint is not None:
            print(f"seed {seed}: {ended.complaint}\n{asked}\n{ended.output[-2000:]}")
        seed += 1
    print(f"questions by exit status: {dict(sorted(statuses.items()))}; next seed {seed}")


if __name__ == "__main__":
    main()
