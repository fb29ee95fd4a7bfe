"""Deployments and settings files written by a test and read back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from proofka.model.deployment import Deployment, DeploymentError, read_deployment, read_properties

ReadYaml = Callable[..., Deployment]
ReadProperties = Callable[..., Deployment]
Refusal = Callable[..., str]


@pytest.fixture
def read_yaml(tmp_path: Path) -> ReadYaml:
    """Read a YAML text as a deployment; keyword ``assume`` holds options."""

    def read(text: str | bytes, assume: dict[str, str] | None = None) -> Deployment:
        path = tmp_path / "deployment.yaml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return read_deployment(path, assume)

    return read


@pytest.fixture
def read_files(tmp_path: Path) -> ReadProperties:
    """Read texts as .properties files: ``read_files(producer="acks=1")``."""

    def read(kafka: str = "4.0", assume: dict[str, str] | None = None, **texts: str | bytes) -> Deployment:
        paths = {}
        for role, text in texts.items():
            paths[role] = tmp_path / f"{role}.properties"
            paths[role].write_bytes(text.encode() if isinstance(text, str) else text)
        return read_properties(kafka=kafka, assume=assume, **paths)

    return read


@pytest.fixture
def refusal(read_yaml: ReadYaml, tmp_path: Path) -> Refusal:
    """Return the one line that refuses a YAML text, without the folder."""

    def refuse(text: str | bytes, assume: dict[str, str] | None = None) -> str:
        with pytest.raises(DeploymentError) as caught:
            read_yaml(text, assume)
        line = str(caught.value)
        assert "\n" not in line
        return line.replace(f"{tmp_path}/", "")

    return refuse


@pytest.fixture
def file_refusal(read_files: ReadProperties, tmp_path: Path) -> Refusal:
    """Return the one line that refuses .properties texts, without the folder."""

    def refuse(kafka: str = "4.0", **texts: str | bytes) -> str:
        with pytest.raises(DeploymentError) as caught:
            read_files(kafka, **texts)
        line = str(caught.value)
        assert "\n" not in line
        return line.replace(f"{tmp_path}/", "")

    return refuse
