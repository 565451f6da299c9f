"""One request, in its time, and no more of the answer than was asked for."""

import datetime
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from memoryhub.common.outward import Answer, NoAnswer, NotAsked, ask, asking
from tests.receiver import HERE, knocks, receiving, resolving


@pytest.fixture(autouse=True)
def this_machine(settings: Any) -> None:
    settings.OUTGOING_NETWORKS = HERE


def post(url: str, *, seconds: float = 5, most: int = 1000, **headers: str) -> Answer:
    return ask("POST", url, headers=headers, content=b"hello", seconds=seconds, most=most)


def test_a_request_arrives_as_it_was_given(monkeypatch: Any) -> None:
    resolving(monkeypatch, {"ci.example": ["127.0.0.1"]})
    with receiving() as receiver:
        receiver.body = b"thanks"
        receiver.answers.append((201, {"X-Told": "yes"}))
        answer = post(f"http://ci.example:{receiver.port}/a?b=c", **{"X-Mine": "1"})
        [heard] = receiver.heard
    assert (answer.status, answer.content, answer.headers["x-told"]) == (201, b"thanks", "yes")
    assert (heard.path, heard.body) == ("/a?b=c", b"hello")
    assert (heard.headers["host"], heard.headers["x-mine"]) == (f"ci.example:{receiver.port}", "1")


def test_nothing_of_the_environment_stands_between(monkeypatch: Any) -> None:
    with knocks() as (port, came), receiving() as receiver:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{port}")
        assert post(receiver.url).status == 204
        assert came == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(status: int) -> None:
    with knocks() as (port, came), receiving() as receiver:
        receiver.answers.append((status, {"Location": f"http://127.0.0.1:{port}/"}))
        assert post(receiver.url).status == status
        assert (len(receiver.heard), came) == (1, [])


def test_an_answer_that_is_too_long_is_let_go() -> None:
    with receiving() as receiver:
        receiver.body = b"x" * 100_000
        receiver.answers.append(200)
        with pytest.raises(NoAnswer, match="too long"):
            post(receiver.url)


def test_a_late_answer_is_none() -> None:
    with receiving() as receiver:
        receiver.seconds = 1.0
        with pytest.raises(NoAnswer, match="in time"):
            post(receiver.url, seconds=0.2)


@contextmanager
def trickling(first: bytes) -> Iterator[int]:
    """It answers a byte at a time, and never comes to an end."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            try:
                connection, _who = listener.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(first)
                    while True:
                        connection.sendall(b"a")
                        time.sleep(0.05)
            except OSError:
                return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(5)


@pytest.mark.parametrize(
    "first", [b"HTTP/1.1 200 OK\r\nX-A: ", b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n"]
)
def test_a_trickle_of_headers_or_of_content_ends_with_the_time(first: bytes) -> None:
    began = time.monotonic()
    with trickling(first) as port, pytest.raises(NoAnswer, match="in time"):
        post(f"http://127.0.0.1:{port}/", seconds=0.5)
    assert time.monotonic() - began < 3


def test_who_is_not_there_is_not_asked(monkeypatch: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    resolving(monkeypatch, {"nobody.example": []})
    for url in (f"http://127.0.0.1:{port}/", "https://nobody.example/", "https://unknown.example/"):
        with pytest.raises(NotAsked):
            post(url)


def test_of_several_addresses_the_next_is_tried(monkeypatch: Any) -> None:
    with receiving() as receiver:
        resolving(monkeypatch, {"two.example": ["127.0.0.77", "127.0.0.1"]})
        assert post(f"http://two.example:{receiver.port}/").status == 204


def test_what_speaks_another_protocol_gives_no_answer() -> None:
    with trickling(b"SSH-2.0-OpenSSH_9.2\r\n\r\n") as port, pytest.raises(NoAnswer):
        post(f"http://127.0.0.1:{port}/", seconds=1)


def authority_for(name: str, folder: Path) -> tuple[Path, Path]:
    """A certificate for the name, which is its own authority; and the file with its key."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
    called = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    made = x509.CertificateBuilder().subject_name(called).issuer_name(called).public_key(key.public_key())
    made = made.serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
    made = made.not_valid_after(now + datetime.timedelta(days=1))
    made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    certificate = made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "authority.pem").write_bytes(certificate)
    (folder / "server.pem").write_bytes(certificate + secret)
    return folder / "authority.pem", folder / "server.pem"


@contextmanager
def serving_tls(server: Path) -> Iterator[tuple[int, list[str | None]]]:
    """The names that callers ask for."""
    names: list[str | None] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(server)
    context.sni_callback = lambda _sock, name, _context: names.append(name)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _who = listener.accept()
                except OSError:
                    return
                try:
                    with context.wrap_socket(connection, server_side=True) as safe:
                        safe.recv(65536)
                        safe.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
                except OSError:
                    continue

        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1], names
        listener.shutdown(socket.SHUT_RDWR)


def test_over_tls_the_name_that_was_given_has_to_be_on_the_certificate(
    tmp_path: Path, monkeypatch: Any
) -> None:
    authority, server = authority_for("ci.example", tmp_path)
    resolving(monkeypatch, {"ci.example": ["127.0.0.1"], "other.example": ["127.0.0.1"]})
    monkeypatch.setattr(asking, "_ssl_context", lambda: ssl.create_default_context(cafile=str(authority)))
    with serving_tls(server) as (port, names):
        assert post(f"https://ci.example:{port}/").status == 204
        assert names == ["ci.example"]
        with pytest.raises(NoAnswer, match="certificate"):
            post(f"https://other.example:{port}/")


def test_a_certificate_of_nobody_is_not_accepted(tmp_path: Path, monkeypatch: Any) -> None:
    _authority, server = authority_for("ci.example", tmp_path)
    resolving(monkeypatch, {"ci.example": ["127.0.0.1"]})
    with serving_tls(server) as (port, _names), pytest.raises(NoAnswer, match="certificate"):
        post(f"https://ci.example:{port}/")
