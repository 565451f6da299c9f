"""Private keys, however they are written down, go whole; what only talks of them stays."""

from random import Random

import pytest

from memoryhub.common.secrets import cut_text
from memoryhub.common.secrets.shapes import expand

RANDOM = Random(3)
LINES = [expand("{base64:64}", RANDOM) for _ in range(6)]
BODY = "\n".join(LINES)
MARK = "[REDACTED:private_key]"


def armoured(label: str, body: str = BODY) -> str:
    return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----"


KINDS = [
    "PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "DSA PRIVATE KEY", "OPENSSH PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK", "OpenVPN Static key V1",
]  # fmt: skip


@pytest.mark.parametrize("label", KINDS)
def test_a_key_goes_from_begin_to_end(label: str) -> None:
    assert cut_text(f"before\n{armoured(label)}\nafter")[0] == f"before\n{MARK}\nafter"


@pytest.mark.parametrize(
    "newline", ["\\n", "\\r\\n", "\\\\n", " ", "\r\n", "\n    ", "\n> ", '\\n" +\n  "', "&#10;", "%0A"]
)
def test_whatever_stands_for_a_newline(newline: str) -> None:
    left, _ = cut_text(f'key = "{armoured("RSA PRIVATE KEY").replace(chr(10), newline)}"')
    assert MARK in left
    assert not [line for line in LINES if line[:20] in left]


def test_old_headers_go_with_it() -> None:
    body = f"Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{expand('{HEX:32}', RANDOM)}\n\n{BODY}"
    assert cut_text(armoured("RSA PRIVATE KEY", body))[0] == MARK


def test_a_key_whose_end_or_beginning_was_lost_goes_as_far_as_it_is_there() -> None:
    whole = armoured("PRIVATE KEY")
    start, _ = cut_text(f"the log ends: {whole[:300]}")
    assert start == f"the log ends: {MARK}"
    end, _ = cut_text(f"{whole[100:]}\nand it goes on")
    assert not [line for line in LINES[2:] if line[:20] in end]
    assert end.endswith("and it goes on")


@pytest.mark.parametrize("before", [7_950, 8_000, 8_150, 49_700])
def test_a_key_across_the_border_of_what_a_field_holds_is_found_before_anything_is_cut_off(
    before: int,
) -> None:
    text = "word " * (before // 5) + armoured("PRIVATE KEY")
    assert cut_text(text)[0] == "word " * (before // 5) + MARK


def test_two_keys_in_a_text_are_two() -> None:
    text = f"{armoured('PRIVATE KEY')}\nbetween\n{armoured('EC PRIVATE KEY')}"
    assert cut_text(text)[0] == f"{MARK}\nbetween\n{MARK}"


@pytest.mark.parametrize(
    "text",
    [
        armoured("CERTIFICATE"),
        armoured("PUBLIC KEY"),
        armoured("PGP PUBLIC KEY BLOCK"),
        armoured("PGP SIGNED MESSAGE"),
        "A key file begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----.",
        "grep -r 'BEGIN RSA PRIVATE KEY' .",
        'if "-----BEGIN PRIVATE KEY-----" in text: raise ValueError',
    ],
)
def test_certificates_public_keys_and_talk_of_keys_stay(text: str) -> None:
    assert cut_text(text) == (text, [])
