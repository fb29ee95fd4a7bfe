"""The image of the Containerfile, built and run where a builder of images and its base image are there.

``PROOFKA_TEST_BASE`` names another base image, for a machine that reaches no registry of images.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BASE = os.environ.get("PROOFKA_TEST_BASE", "docker.io/library/python:3.11-slim")
IMAGE = "localhost/proofka-test"
BUILDERS = {
    "docker": ("docker", "build", "--quiet", "--file", "Containerfile"),
    "podman": ("podman", "build", "--quiet", "--file", "Containerfile"),
    "buildah": ("buildah", "build", "--quiet", "--file", "Containerfile"),
}
"""The command that builds an image with each builder."""


def ran(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False)


def builder() -> str:
    """Return a builder that has the base image, or skip the test."""
    for name in BUILDERS:
        if shutil.which(name) is not None and ran(name, "pull", BASE).returncode == 0:
            return name
    pytest.skip(f"*** no image is built: none of {', '.join(BUILDERS)} is there and has {BASE} (PROOFKA_TEST_BASE) ***")


@pytest.fixture(scope="module")
def program() -> Iterator[tuple[str, ...]]:
    """Build the image, and yield the command that runs the image with the folder of examples."""
    name = builder()
    build = ran(*BUILDERS[name], "--build-arg", f"BASE={BASE}", "--tag", IMAGE, ".")
    assert build.returncode == 0, build.stdout + build.stderr
    examples = f"{ROOT / 'examples'}:/work:ro"
    if name == "buildah":
        container = ran("buildah", "from", IMAGE).stdout.strip()
        yield ("buildah", "run", "--user", "65534", "--workingdir", "/work", "-v", examples, container, "--", "proofka")
        ran("buildah", "rm", container)
    else:
        yield (name, "run", "--rm", "-v", examples, IMAGE)
    ran(name, "rmi", IMAGE)


@pytest.mark.cluster
def test_the_image_checks_a_deployment_as_a_user_without_rights(program: tuple[str, ...]) -> None:
    run = ran(*program, "check", "acks-1.yaml", "--faults", "1", "--require", "no-acked-loss", "--more", "0")
    assert "no-acked-loss*" in run.stdout, run.stdout + run.stderr
    assert run.returncode == 1, "a violation is an answer"
    assert "no cache" not in run.stderr


@pytest.mark.cluster
def test_the_image_certifies_a_deployment(program: tuple[str, ...]) -> None:
    run = ran(*program, "certify", "exactly-once.yaml", "--faults", "1", "-o", "/tmp/once.cert")
    assert run.returncode == 0, run.stdout + run.stderr
