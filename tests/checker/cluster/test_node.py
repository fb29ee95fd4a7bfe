"""The life of a node, with a program of the test in the place of Kafka."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from proofka.checker.cluster.errors import CannotStart, NotSeen
from proofka.checker.cluster.node import STARTED, IsDown, IsUp, Node, NodePorts
from proofka.checker.cluster.supervisor import Supervisor
from proofka.checker.cluster.waiting import until

SECONDS = 30
PORTS = NodePorts(client=None, replica=None, harness=None, controller=1)
KAFKA = f"print('[node 1] {STARTED}', flush=True); import threading; threading.Event().wait()"


@pytest.fixture
def supervisor() -> Iterator[Supervisor]:
    """Give a supervisor that ends all nodes."""
    with Supervisor() as made:
        yield made


def node(supervisor: Supervisor, folder: Path, program: str = KAFKA) -> Node:
    """Return a node that is down."""
    command = [sys.executable, "-c", program]
    return Node(1, folder=folder, ports=PORTS, command=command, supervisor=supervisor)


def test_a_node_starts_is_killed_and_starts_again(supervisor: Supervisor, tmp_path: Path) -> None:
    made = node(supervisor, tmp_path)
    assert not made.is_up and made.log_text() == ""
    made.start()
    made.wait_started(seconds=SECONDS)
    first = made.pid
    with pytest.raises(IsUp):
        made.start()
    made.kill()
    assert not made.is_up
    made.start()
    made.wait_started(seconds=SECONDS)
    assert made.pid != first and made.log_text().count(STARTED) == 2


def test_the_line_of_an_earlier_start_does_not_count(supervisor: Supervisor, tmp_path: Path) -> None:
    (tmp_path / "server.log").write_text(f"{STARTED}\n")
    made = node(supervisor, tmp_path, "import threading; threading.Event().wait()")
    made.start()
    with pytest.raises(NotSeen, match="the start of node 1"):
        made.wait_started(seconds=0)
    assert made.log_text().count(STARTED) == 1 and made.log_text(made.mark()) == ""


def test_a_node_that_ends_by_itself_shows_the_end_of_its_log(supervisor: Supervisor, tmp_path: Path) -> None:
    made = node(supervisor, tmp_path, "print('Address already in use')")
    made.start()
    with pytest.raises(CannotStart, match="Address already in use"):
        made.wait_started(seconds=SECONDS)


def test_a_line_that_a_dead_node_has_written_is_found(supervisor: Supervisor, tmp_path: Path) -> None:
    made = node(supervisor, tmp_path, f"print('{STARTED}')")
    made.start()
    until(lambda: not made.is_up, what="the end of the program", seconds=SECONDS)
    made.wait_started(seconds=0)
    assert made.wait_log("Kafka (Server)", what="its name", seconds=0)[1] == "Server"


def test_a_paused_node_is_up_until_a_kill(supervisor: Supervisor, tmp_path: Path) -> None:
    made = node(supervisor, tmp_path)
    made.start()
    made.wait_started(seconds=SECONDS)
    made.pause()
    assert made.is_up and made.is_paused
    made.resume()
    assert not made.is_paused
    made.pause()
    made.kill()
    made.start()
    assert made.is_up and not made.is_paused


def test_signals_need_a_node_that_is_up(supervisor: Supervisor, tmp_path: Path) -> None:
    made = node(supervisor, tmp_path)
    for signal in (made.kill, made.stop, made.pause, made.resume):
        with pytest.raises(IsDown):
            signal()
