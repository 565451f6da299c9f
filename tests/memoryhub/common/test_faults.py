import logging

import pytest
from django.db import InterfaceError, OperationalError

from memoryhub.common.errors import Internal, NotFound, Unavailable
from memoryhub.common.faults import refusal_for

STORED = "the office dog is called Biscuit"


def raised(fault: Exception, cause: Exception | None = None) -> Exception:
    try:
        raise fault from cause
    except Exception as caught:
        return caught


def test_a_refusal_stays_what_it_is_and_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    refusal = NotFound("memory")
    assert refusal_for(refusal, "A tool") is refusal
    assert caplog.records == []


def test_any_other_fault_is_internal_and_found_again_by_its_request(caplog: pytest.LogCaptureFixture) -> None:
    refusal = refusal_for(raised(ValueError(STORED), KeyError(STORED)), "The tool remember")
    assert isinstance(refusal, Internal)
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    told = record.getMessage()
    assert (
        f"The tool remember failed (request {refusal.details['request_id']}): ValueError from KeyError"
        in told
    )
    assert "test_faults.py" in told


def test_neither_the_answer_nor_the_log_repeats_stored_text(caplog: pytest.LogCaptureFixture) -> None:
    refusal = refusal_for(raised(ValueError(STORED), KeyError(STORED)), "A tool")
    assert STORED not in str(refusal.body())
    assert STORED not in caplog.text.replace("STORED", "")


@pytest.mark.parametrize("kind", [OperationalError, InterfaceError])
def test_a_database_that_does_not_answer_is_unavailable(kind: type[Exception]) -> None:
    assert isinstance(refusal_for(raised(kind("server closed the connection")), "A tool"), Unavailable)


def test_a_ring_of_causes_ends() -> None:
    first, second = ValueError("a"), KeyError("b")
    first.__cause__, second.__cause__ = second, first
    assert isinstance(refusal_for(first, "A tool"), Internal)
