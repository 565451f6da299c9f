import asyncio

import pytest

from memoryhub.web.bodies import Message, bounded


def kept(pieces: list[bytes], limit: int) -> list[bytes]:
    sent = iter([{"type": "http.request", "body": piece, "more_body": True} for piece in pieces])

    async def receive() -> Message:
        return next(sent, {"type": "http.disconnect"})

    async def read() -> list[bytes]:
        some, found = bounded(receive, limit), []
        while (message := await some())["type"] == "http.request":
            assert message["more_body"] is True
            found.append(message["body"])
        return found

    return asyncio.run(read())


@pytest.mark.parametrize(
    ("pieces", "those"),
    [
        ([b"abc", b"de"], [b"abc", b"de"]),
        ([b"abcde", b""], [b"abcde", b""]),
        ([b"abcdef"], [b"abcdef"]),
        ([b"abc", b"defgh", b"ij"], [b"abc", b"def", b""]),
    ],
)
def test_one_byte_too_many_is_kept_and_no_more(pieces: list[bytes], those: list[bytes]) -> None:
    assert kept(pieces, 5) == those
