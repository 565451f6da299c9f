"""Nothing that is logged lets anybody in, or repeats what is stored: whoever logs it, through whatever handler."""

import io
import json
import logging
import threading
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from celery.app.trace import TraceInfo
from uvicorn.logging import AccessFormatter

from memoryhub.common.logs import UNREADABLE, _tell_end, be_careful, places, without_secrets
from memoryhub.common.secrets.shapes import expand

SECRET = expand("ghp_{crc:30}", Random(11))
TOKEN = "kq0Zt5m1d8vXWcYh3nRb7sLpEoGuJfAi"
STORED = "the office dog is called Biscuit"


@pytest.fixture
def lines() -> Iterator[Callable[[], str]]:
    """What a handler writes that nobody told about anything."""
    be_careful()
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    logging.getLogger().addHandler(handler)
    yield stream.getvalue
    logging.getLogger().removeHandler(handler)


log = logging.getLogger("a logger of somebody else")


@pytest.mark.parametrize(
    ("message", "args"),
    [
        (f"sent {SECRET}", ()),
        ("sent %s", (SECRET,)),
        ("sent %(what)s", ({"what": SECRET},)),
        ("sent %s", ({"a": [SECRET]},)),
        ("sent %r", (SECRET.encode(),)),
        ("password=%s", ("Tr0ub4dor&3xkcd",)),
        ("https://ann:%s@db.example/x", ("Tr0ub4dor3xkcd",)),
        ("Not Found: %s", (f"/v1/kv/main/{SECRET}",)),
        ("Not Found: %s", (f"/v1/kv/main/{SECRET[:9]}%{ord(SECRET[9]):02X}{SECRET[10:]}",)),
    ],
)
def test_a_secret_is_in_no_line(lines: Callable[[], str], message: str, args: tuple[Any, ...]) -> None:
    log.warning(message, *args)
    written = lines()
    assert "[REDACTED:" in written
    assert not any(part in written for part in (SECRET, SECRET[10:], "Tr0ub4dor"))


@pytest.mark.parametrize(
    "path",
    [
        f"/welcome/{TOKEN}/",
        f"/welcome/{TOKEN}?next=/a/acme/",
        f"/accounts/password/reset/key/1x-{TOKEN}/",
        f"/accounts/confirm-email/{TOKEN}/",
        f"/a/acme/main/data/{TOKEN}/download/",
        f"/callback?code={TOKEN}&state={TOKEN}",
        f"/oauth/authorize/?client_id={TOKEN}&code_challenge={TOKEN}",
        f"https://hub.example/welcome/{TOKEN}/",
        f"/x?q={TOKEN}",
    ],
)
def test_a_link_or_code_that_lets_somebody_in_is_in_no_line(lines: Callable[[], str], path: str) -> None:
    log.info("-")
    log.warning('"GET %s HTTP/1.1" 200', path)
    log.warning("redirected to " + path)
    assert TOKEN not in lines()
    assert path.partition(TOKEN)[0].partition("?")[0].rpartition("/")[0] in lines()


def test_what_was_asked_for_is_told_by_its_names_alone() -> None:
    assert without_secrets("GET /v1/recall?query=biscuit&limit=5 200") == "GET /v1/recall?query=…&limit=… 200"
    assert without_secrets("why? because a=b") == "why? because a=b"


def test_the_lines_of_a_server_keep_their_form(lines: Callable[[], str]) -> None:
    access = logging.getLogger("uvicorn.access")
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        AccessFormatter("%(client_addr)s %(request_line)s %(status_code)s", use_colors=False)
    )
    access.addHandler(handler)
    said = '%s - "%s %s HTTP/%s" %d'
    access.warning(said, "127.0.0.1:1", "GET", f"/welcome/{TOKEN}/?q={SECRET}", "1.1", 200)
    access.removeHandler(handler)
    assert stream.getvalue() == "127.0.0.1:1 GET /welcome/…/?q=… HTTP/1.1 200 OK\n"


def raised(fault: BaseException, cause: BaseException | None = None) -> BaseException:
    stored = STORED + SECRET  # a value of this place, which no line may have
    try:
        raise fault from cause
    except BaseException as caught:
        assert stored
        return caught


def test_of_an_exception_the_kinds_and_places_are_told(lines: Callable[[], str]) -> None:
    fault = raised(ValueError(STORED), KeyError(STORED))
    log.error("it failed: %s", fault, exc_info=fault)
    written = lines()
    assert "it failed: ValueError" in written
    assert "builtins.KeyError\n" in written
    assert "test_logs.py" in written
    assert STORED not in written


def test_a_task_that_fails_tells_nothing_of_what_it_held(lines: Callable[[], str]) -> None:
    """As the library logs it: message, representation and traceback are among what it fills in."""
    from celery import Celery

    app = Celery("x", set_as_current=False, broker="memory://")

    @app.task(name="x.fail")
    def fail(what: str) -> None:
        raise ValueError(what)

    try:
        raise ValueError(STORED)
    except ValueError as fault:
        fail.push_request(id="1", args=[STORED], kwargs={"a": STORED}, hostname="h")
        TraceInfo("FAILURE", fault).handle_error_state(fail, fail.request, eager=True)
    assert "x.fail" in lines()
    assert "ValueError" in lines()
    assert STORED not in lines()


def test_what_tells_of_settings_and_files_keeps_its_words() -> None:
    from django.core.exceptions import ImproperlyConfigured

    assert places(ImproperlyConfigured("Set SECRET_KEY.")).endswith("ImproperlyConfigured: Set SECRET_KEY.")
    assert places(OSError(28, "No space left on device", SECRET)).endswith("OSError: No space left on device")


def test_what_ends_a_process_or_a_thread_is_told_as_carefully(lines: Callable[[], str]) -> None:
    fault = raised(RuntimeError(STORED))
    _tell_end(RuntimeError, fault, fault.__traceback__)
    assert "builtins.RuntimeError" in lines()
    assert STORED not in lines()


def test_an_ordinary_line_is_left_as_it_is(lines: Callable[[], str]) -> None:
    checkpoint = json.dumps({
        "account": "0190a5b2-7c1d-7e3f-8a4b-5c6d7e8f9a0b", "seq": 12, "hash": "9f" * 32, "at": "2026-03-02T10:00:00Z",
        "key": "3f0c9d1e", "signature": "".join(Random(3).choice("0123456789abcdef") for _ in range(128)),
    })  # fmt: skip
    for message, args in (
        ("audit checkpoint %s", (checkpoint,)),
        ("%s (process %d) ended with code %d; starting it again %s", ("worker", 12, 3, "now")),
        ("the database in /var/lib/memoryhub/postgres/data is recovering", ()),
        ("100 %", ()),
    ):
        log.warning(message, *args)
        assert lines().splitlines()[-1] == (message % args if args else message)


def test_a_line_without_end_is_cut_between_words(lines: Callable[[], str]) -> None:
    log.warning("x " * 8_185 + SECRET + " y" * 100_000)
    assert len(lines()) < 20_000
    assert SECRET[:12] not in lines()


def test_a_line_that_makes_no_sense_is_left_out_rather_than_let_through(lines: Callable[[], str]) -> None:
    log.warning("%d of %d", SECRET)
    assert lines() == f"{UNREADABLE}\n"


def test_threads_keep_the_hook_that_somebody_put_in() -> None:
    before = threading.excepthook
    be_careful()
    assert before is threading.__excepthook__ or threading.excepthook is before
