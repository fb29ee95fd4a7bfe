"""Content of a JSON file: a normalised deployment, a result, or a text for another reader."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.normalised import read_normalised


def written(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_a_result_is_no_configuration(tmp_path: Path) -> None:
    """Its commands are named; a file that has only some of a result's members is somebody else's."""
    members = dict.fromkeys(("versions", "command", "deployment", "engine", "verdicts", "checksum"))
    with pytest.raises(
        DeploymentError, match="is the result of a check, not a configuration; use it with proofka verify"
    ):
        read_normalised(written(tmp_path / "result.json", members))
    members.pop("verdicts")
    assert read_normalised(written(tmp_path / "other.json", members)) is None


@pytest.mark.parametrize("document", [[], "text", 1, {}])
def test_other_files_are_left_to_other_readers(document: object, tmp_path: Path) -> None:
    assert read_normalised(written(tmp_path / "other.json", document)) is None
