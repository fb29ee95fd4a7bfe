"""A file whose settings are all misspelt is answered with the settings that its keys resemble."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofka.checker.source import Source
from proofka.model.deployment.dialects.finding import find
from proofka.model.deployment.errors import DeploymentError

MISSPELT = "acs=all\nenabel.idempotence=true\n"
NAMED = r"line 1: acs, did you mean acks\?; line 2: enabel.idempotence, did you mean enable.idempotence\?"


@pytest.mark.parametrize("place", ["", "producer.properties"])
def test_misspelt_keys_are_named(place: str, tmp_path: Path) -> None:
    (tmp_path / "producer.properties").write_text(MISSPELT, encoding="utf-8")
    with pytest.raises(DeploymentError, match=NAMED):
        find(tmp_path / place, {})


def test_misspelt_keys_of_a_file_that_could_be_a_deployment_are_named(tmp_path: Path) -> None:
    file = tmp_path / "producer.properties"
    file.write_text(MISSPELT, encoding="utf-8")
    with pytest.raises(DeploymentError, match=NAMED):
        Source(file).read()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("app.properties", MISSPELT),
        ("producer.properties", "colour=blue\n"),
        ("producer.properties", "hunter2 is my pass=\\uZZZZ\n"),
    ],
)
def test_keys_of_other_programs_are_not_named(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(DeploymentError) as raised:
        find(tmp_path / name, {})
    assert "did you mean" not in str(raised.value)
