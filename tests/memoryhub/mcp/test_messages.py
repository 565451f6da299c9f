import pytest

from memoryhub.mcp.messages import MAX_DEPTH, Call, NotACall, parse, read_message
from memoryhub.mcp.refusals import Refused


def fault_of(message: object) -> tuple[object, int]:
    with pytest.raises(NotACall) as caught:
        read_message(message)
    return caught.value.answer["id"], caught.value.answer["error"]["code"]


def status_of(body: bytes) -> int:
    with pytest.raises(Refused) as caught:
        parse(body)
    return caught.value.response.status_code


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def test_a_request_is_a_call() -> None:
    message = {"jsonrpc": "2.0", "id": 0, "method": "ping", "params": {"a": 1}}
    assert read_message(message) == Call(0, "ping", {"a": 1})


def test_absent_and_null_params_are_alike() -> None:
    message = {"jsonrpc": "2.0", "id": "", "method": "ping"}
    assert read_message(message) == read_message({**message, "params": None}) == Call("", "ping", None)


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/unheard-of", "params": [1]},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}},
    ],
)
def test_what_is_owed_no_answer_is_no_call(message: object) -> None:
    assert read_message(message) is None


@pytest.mark.parametrize("message", [None, 3, "ping", [], {}, {"id": 7, "method": "ping"}])
def test_what_is_not_json_rpc_is_an_invalid_request(message: object) -> None:
    assert fault_of(message)[1] == -32600


@pytest.mark.parametrize("id", [None, 1.5, True, [], {}])
def test_an_id_is_a_string_or_a_whole_number(id: object) -> None:
    assert fault_of({"jsonrpc": "2.0", "id": id, "method": "ping"}) == (None, -32600)


def test_a_fault_names_the_message_it_is_about() -> None:
    assert fault_of({"jsonrpc": "2.0", "id": 9, "method": 5}) == (9, -32600)
    assert fault_of({"jsonrpc": "2.0", "id": 9, "method": "ping", "params": [1]}) == (9, -32602)


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000, b"1" * 5000, b'{"a":1}x'])
def test_what_is_not_json_is_refused(body: bytes) -> None:
    assert status_of(body) == 400


def test_depth_is_limited() -> None:
    assert parse(nested(MAX_DEPTH)) is not None
    assert status_of(nested(MAX_DEPTH + 1)) == 400


def test_many_shallow_objects_are_not_deep() -> None:
    assert len(parse(b"[" + b"{}," * 500 + b"{}]")) == 501
