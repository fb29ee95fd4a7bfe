"""Values that a rule, a duration or a judgement reads must be known: no missing value passes for harmless."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from proofka.model.deployment import read_deployment
from proofka.model.deployment.defaults import is_known
from proofka.model.deployment.dialects import client_names
from proofka.model.deployment.dialects.component import Role
from proofka.model.deployment.dialects.keys import matters
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.libraries import LIBRARIES
from proofka.model.deployment.must_know import must_know
from proofka.model.deployment.refusals import REFUSALS
from proofka.model.deployment.release import JAVA
from proofka.model.deployment.section import Section
from proofka.model.deployment.setting import Setting
from proofka.reports.guide.entry import table
from proofka.reports.guide.related import named_in, whose

EXAMPLES = Path(__file__).parents[3] / "examples"

ONLY_REFUSE = {one.rule for one in REFUSALS} | {"P22", "P30", "S04", "S08"}
"""Rules that keep a client from starting, and do nothing to one that starts. Long transactions are a fault."""

ANY_VALUE = {"group.id", "group_id", "transactional.id", "transaction.timeout.ms", "transaction.max.timeout.ms"}
"""Settings of which only the presence matters, or whether a client starts with them; a placeholder is enough."""

NOT_WITH_TRANSACTIONS = {("kafka-go", "IsolationLevel")}


@pytest.mark.parametrize("row", table("rules"), ids=lambda row: row["id"])
def test_settings_that_rules_read_must_be_known(row: dict[str, str]) -> None:
    if row["id"] in ONLY_REFUSE:
        return
    for key in named_in(row) - ANY_VALUE:
        those = [one for one in whose(row["of"]) if is_known(one, key)]
        assert not those or any(_matters(one, key) for one in those), key


def _matters(component: str, key: str) -> bool:
    library, _, role = component.rpartition(" ")
    if role in ("topic", "broker"):
        return client_names.matters(role, key)
    java = client_names.matters(role, key) if not library else True
    return java and matters(library or JAVA, Role(role), key)


def deployments() -> list[str]:
    of_libraries = [
        f'kafka: "4.0"\ntopic: {{replicas: 3}}\nproducer: {{client: {one}{more}}}\nconsumer: {{client: {one}}}\n'
        for one in LIBRARIES
        for more in ("", ", enable_idempotence: false")
    ]
    by_release = [
        f'kafka: "{kafka}"\ntopic: {{replicas: 3{policy}}}\nproducer: {{settings: {{transactional.id: x}}}}\n'
        for kafka in ("0.10", "0.11", "2.4", "3.3", "3.9", "4.1")
        for policy in ("", ", cleanup.policy: compact")
    ]
    return [
        *of_libraries,
        *by_release,
        *(path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.rglob("*.yaml"))),
    ]


def test_settings_that_the_builder_reads_must_be_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every key that a section is asked for while deployments are built must be known, except keys of refusals
    alone."""
    read: set[tuple[str, str, str]] = set()
    effective = Section.setting

    def noting(self: Section, key: str) -> Setting:
        caller = sys._getframe(1)
        while "section.py" in caller.f_code.co_filename and caller.f_back is not None:
            caller = caller.f_back
        if not caller.f_code.co_filename.endswith("refusals.py"):
            read.add((self.scope, self.library, key))
        return effective(self, key)

    monkeypatch.setattr(Section, "setting", noting)
    file = tmp_path / "d.yaml"
    for text in deployments():
        file.write_text(text, encoding="utf-8")
        try:
            read_deployment(file)
        except DeploymentError:
            continue
    assert len(read) > 150
    for scope, library, key in read:
        if key not in ANY_VALUE and (library, key) not in NOT_WITH_TRANSACTIONS:
            assert key in must_know(scope, library), (scope, library, key)


@pytest.mark.parametrize(
    ("scope", "key"),
    [("broker", "replica.fetch.wait.max.ms"), ("consumer", "retry.backoff.ms"), ("producer", "reconnect.backoff.ms")],
)
def test_a_placeholder_in_place_of_a_duration_is_no_default(scope: str, key: str, tmp_path: Path) -> None:
    file = tmp_path / "d.yaml"
    file.write_text(f'kafka: "3.3"\ntopic: {{replicas: 3}}\n{scope}: {{{key}: "${{X}}"}}\n', encoding="utf-8")
    with pytest.raises(DeploymentError, match="has a placeholder"):
        read_deployment(file)
