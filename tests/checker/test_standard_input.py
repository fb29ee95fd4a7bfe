"""``proofka check -``: what is piped in is read as the file would be whose text it is."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

Answer = tuple[int, str, str]

EXAMPLE = Path("examples/time/delivery-timeout.yaml")
QUICKLY = ("--faults", "1", "--more", "0", "--quiet")


def check(text: str, *arguments: str, command: str = "check") -> Answer:
    words = [sys.executable, "-m", "proofka", command, *arguments]
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def answer_of_its_file() -> Answer:
    return check("", str(EXAMPLE), *QUICKLY)


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_a_deployment_has_the_answer_of_its_file(name: str, answer_of_its_file: Answer) -> None:
    assert check(EXAMPLE.read_text(encoding="utf-8"), name, *QUICKLY) == answer_of_its_file


def test_a_clients_properties_are_read_as_such() -> None:
    status, out, _ = check("bootstrap.servers=b\nkey.serializer=S\nacks=1\n", "-", "--kafka", "3.9", *QUICKLY)
    assert (status, "no-acked-loss can fail with 1 leader-move" in out) == (1, True)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "-: is empty"),
        ('kafka: "3.9"\nproducer: {ackss: 1}\n', "-:2: ackss: unknown producer setting; did you mean acks?"),
        ("min.insync.replicas\0", "-:1: is a binary file"),
        ("#" * (1024 * 1024 + 1), "is too large for a configuration file"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(text: str, told: str) -> None:
    status, out, complaint = check(text, "-", *QUICKLY)
    assert (status, out, told in complaint) == (2, "", True)


def test_a_closed_standard_input_is_one_line() -> None:
    words = f"{shlex.quote(sys.executable)} -m proofka check - <&-"
    done = subprocess.run(["sh", "-c", words], capture_output=True, text=True, check=False)
    told = "-: standard input is closed; pipe a configuration into the command\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told)


@pytest.mark.slow
def test_explain_is_a_check_that_explains() -> None:
    text = Path("examples/acks-1.yaml").read_text(encoding="utf-8")
    status, out, _ = check(text, "-", "--faults", "1", "--require", "no-acked-loss", command="explain")
    assert (status, "acks" in out and "prevent" in out) == (1, True)
