from __future__ import annotations

import socket

import pytest

from memoryhub.running.errors import SetupError
from memoryhub.running.listening import is_exposed, listen, reachable


def close(sockets: list[socket.socket]) -> None:
    for sock in sockets:
        sock.close()


def test_the_default_host_answers_to_localhost_in_both_families() -> None:
    sockets = listen("127.0.0.1", 0)
    names = [sock.getsockname()[0] for sock in sockets]
    ports = {sock.getsockname()[1] for sock in sockets}
    close(sockets)
    assert names in (["127.0.0.1", "::1"], ["127.0.0.1"])  # the second where there is no IPv6
    assert len(ports) == 1


def test_a_call_made_before_anybody_accepts_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    sockets = listen("127.0.0.1", 0)
    with socket.create_connection(sockets[0].getsockname()) as early:
        early.sendall(b"hello")
        taken, _ = sockets[0].accept()
        assert taken.recv(5) == b"hello"
        taken.close()
    close(sockets)


def test_a_port_in_use_is_named_in_plain_words() -> None:
    sockets = listen("127.0.0.1", 0)
    port = sockets[0].getsockname()[1]
    with pytest.raises(SetupError, match=f"Port {port} on 127.0.0.1 is taken by another program"):
        listen("127.0.0.1", port)
    close(sockets)


@pytest.mark.parametrize("host", ["203.0.113.9", "no such host"])
def test_a_host_of_another_machine_is_refused(host: str) -> None:
    with pytest.raises(SetupError, match="is not an address of this machine"):
        listen(host, 0)


@pytest.mark.parametrize(("host", "exposed"), [("127.0.0.1", False), ("0.0.0.0", True)])
def test_it_is_known_whether_other_machines_can_reach_it(host: str, exposed: bool) -> None:
    sockets = listen(host, 0)
    assert is_exposed(sockets[0]) is exposed
    assert reachable(sockets[0])[0] == "127.0.0.1"
    close(sockets)
