"""A script: a folder in a zip file that replays one trace on a laptop with Docker or Java, without Proofka.

The folder holds the plan of the trace, a copy of the files that carry it out, a README made from the trace, and what
starts both. The same plan and file name give the same bytes.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from proofka.checker.cluster.configuration import node_properties
from proofka.checker.cluster.jars import newest_patch
from proofka.checker.cluster.launching import libraries
from proofka.checker.cluster.plan import ClusterPlan
from proofka.checker.reproduction.adjusting import adjusted, adjusted_client
from proofka.checker.reproduction.errors import NoScript
from proofka.checker.reproduction.plan import Plan, PlannedClient, to_json
from proofka.checker.reproduction.run import unsteerable
from proofka.checker.reproduction.running import clients_that_run
from proofka.model.input.whole_file import write_whole
from proofka.properties.reproduced import ChangedSetting

ROOT = Path(__file__).parents[3]
COPIED = (
    "proofka/__init__.py",
    "proofka/checker/__init__.py",
    "proofka/checker/cluster",
    "proofka/checker/reproduction",
    "proofka/properties/__init__.py",
    "proofka/properties/reproduced.py",
    "proofka/properties/reproduced_in_words.py",
    "proofka/properties/sealing.py",
)
"""Files and folders that a script has copies of."""
LEFT_OUT = (
    "proofka/checker/reproduction/laptop",
    "proofka/checker/reproduction/of_trace.py",
    "proofka/checker/reproduction/script.py",
    "proofka/checker/reproduction/standalone.py",
)
"""Files and folders in these that a script does not need, or has in another place."""
LAPTOP = Path(__file__).parent / "laptop"
"""The folder of the files that a script has beside the copies: some as they are, and templates."""
IMAGE, PACKAGES = "debian:bookworm-slim", ("openjdk-17-jre-headless", "python3")
"""The image that a container begins with unless a language needs another, and the packages that it always needs."""
PLACES = {
    "data": "a folder of the cluster",
    "listeners": "free ports of 127.0.0.1",
    "advertised": "ports of the proxy",
    "protocols": "PLAINTEXT",
    "voters": "a port of the proxy",
    "zookeeper": "a port of the proxy",
    "control": "a listener of the cluster",
    "roles": "broker or controller",
    "node": "1, 2, ...",
}
"""Words for the values that differ from node to node or from run to run, by their name in the table of settings."""

_CREATED, _UNIX, _FILE, _PROGRAM = (1980, 1, 1, 0, 0, 0), 3, 0o100644, 0o100755
_MARKS = re.compile(r"([\\`*_\[\]<>|#&])")


def write_script(plan: Plan, path: Path) -> None:
    """Write the script of a plan. Raises NoScript for a trace that no replay can bring about, and OSError."""
    found = unsteerable(plan)
    if found is not None:
        raise NoScript(f"no script replays step {found.step.number} ({found.step.text}): {found.reason}")
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem).strip(".-") or "trace"
    write_whole(path, _zipped({f"{name}/{file}": content for file, content in members(plan).items()}))


def members(plan: Plan) -> dict[str, bytes]:
    """Return the content of each file of a script, by its path in the folder."""
    found = {file.relative_to(ROOT).as_posix(): file.read_bytes() for file in copied()}
    found["__main__.py"] = Path(__file__).with_name("standalone.py").read_bytes()
    found["plan.json"] = to_json(plan).encode("utf-8")
    found["run.sh"] = (LAPTOP / "run.sh").read_bytes()
    found["compose.yaml"] = (LAPTOP / "compose.yaml").read_bytes()
    found[".dockerignore"] = (LAPTOP / "dockerignore").read_bytes()
    requirements = "".join(f"{one}\n" for one in _requirements(plan))
    if requirements:
        found["requirements.txt"] = requirements.encode("ascii")
    found["Dockerfile"] = _rendered("Dockerfile.j2", **_container(plan), requirements=requirements)
    found["README.md"] = _rendered("README.md.j2", **_told(plan))
    return found


def copied() -> Iterator[Path]:
    """Yield each file that a script has a copy of."""
    for place in COPIED:
        path = ROOT / place
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            inside = file.relative_to(ROOT)
            left_out = inside.as_posix().startswith(LEFT_OUT)
            made = {"__pycache__", "node_modules"}.intersection(inside.parts) or inside.name.startswith(".")
            if file.is_file() and not left_out and not made:
                yield file


def _zipped(files: Mapping[str, bytes]) -> bytes:
    """Return a zip file whose bytes depend on names and contents alone."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as file:
        for name in sorted(files):
            member = zipfile.ZipInfo(name, _CREATED)
            member.create_system = _UNIX
            member.external_attr = (_PROGRAM if name.endswith("/run.sh") else _FILE) << 16
            file.writestr(member, files[name], zipfile.ZIP_DEFLATED, 9)
    return written.getvalue()


def _rendered(template: str, **values: Any) -> bytes:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)
    environment.filters.update(text=_text, code=_code)
    environment.keep_trailing_newline = True
    return environment.from_string((LAPTOP / template).read_text(encoding="utf-8")).render(values).encode("utf-8")


def _text(words: str) -> str:
    """Return words as Markdown that shows them as they are."""
    return _MARKS.sub(r"\\\1", " ".join(words.split()))


def _code(words: str) -> str:
    """Return a setting's name or value as code in Markdown, also in a table."""
    shown = " ".join(words.split()).replace("`", "'").replace("|", r"\|")
    return f"`{shown}`" if shown else "(empty)"


def _languages(plan: Plan) -> list[dict[str, str]]:
    """Return the rows of the languages of the clients that run."""
    needed = {libraries()[client.library].language for client in clients_that_run(plan).values()}
    return [row for row in _rows("languages.csv") if row["language"] in needed]


def _rows(table: str) -> list[dict[str, str]]:
    with (LAPTOP / table).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _requirements(plan: Plan) -> list[str]:
    """Return the Python packages of the clients that run, with their versions: the deployment's, or a tested one."""
    packages = {row["library"]: row for row in _rows("packages.csv")}
    clients = [client for client in clients_that_run(plan).values() if client.library in packages]
    pinned = {f"{packages[one.library]['package']}=={_version(one, packages[one.library])}" for one in clients}
    return sorted(pinned)


def _version(client: PlannedClient, row: Mapping[str, str]) -> str:
    if client.release is None:
        return row["version"]
    return client.release if client.release.count(".") > 1 else f"{client.release}.*"


def _container(plan: Plan) -> dict[str, Any]:
    languages = _languages(plan)
    return {
        "image": next((row["image"] for row in languages if row["image"]), IMAGE),
        "packages": [*PACKAGES, *(package for row in languages for package in row["packages"].split())],
    }


def _told(plan: Plan) -> dict[str, Any]:
    """Return the values of the README of a plan."""
    languages = _languages(plan)
    clients = clients_that_run(plan)
    return {
        "plan": plan,
        "properties": [name for name, _ in plan.failures],
        "release": newest_patch(plan.kafka),
        "languages": [row["language"] for row in languages],
        "needs": [row["needs"] for row in languages],
        "given": [
            ("brokers", plan.broker_settings),
            ("topic", plan.topic_settings),
            *((f"{role} ({one.library} {one.release or 'newest'})", one.settings) for role, one in clients.items()),
        ],
        "changed": _changed(plan),
    }


def _changed(plan: Plan) -> list[ChangedSetting]:
    """Return the settings that the replay uses with other values than the deployment."""
    brokers, changed = adjusted(plan, "broker", "", plan.broker_settings)
    cluster = ClusterPlan(release=newest_patch(plan.kafka), mode=plan.mode)
    numbers = {"session": cluster.session_ms, "heartbeat": cluster.heartbeat_ms, "internal": cluster.internal_replicas}
    facts = {**PLACES, **{name: str(number) for name, number in numbers.items()}}
    _, by_harness = node_properties(brokers, facts, mode=plan.mode, is_broker=True)
    found = [*changed, *adjusted(plan, "topic", "", plan.topic_settings)[1]]
    for role, client in clients_that_run(plan).items():
        found += adjusted_client(plan, role, client)[1]
    return found + [ChangedSetting("broker", one.setting, one.given, one.used or "", one.reason) for one in by_harness]
