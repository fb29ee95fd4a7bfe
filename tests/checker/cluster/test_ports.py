"""Ports that stay free for servers."""

from __future__ import annotations

import socket
import sys

import pytest

from proofka.checker.cluster.ports import Ports
from proofka.checker.cluster.wire import HOST


def test_a_server_listens_again_and_again_at_its_port() -> None:
    ports = Ports()
    port = ports.take()
    for _ in range(2):
        with socket.create_server((HOST, port)) as server:
            socket.create_connection((HOST, port)).close()
            server.accept()[0].close()
    ports.close()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux keeps the port")
def test_no_other_socket_takes_the_port_of_a_server_that_is_down() -> None:
    ports = Ports()
    port = ports.take()
    with socket.socket() as other, pytest.raises(OSError):
        other.bind((HOST, port))
    ports.close()
    with socket.socket() as other:
        other.bind((HOST, port))
