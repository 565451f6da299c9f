"""Nothing inside is ever connected to, however it is written, and whatever a name leads to."""

import socket
from ipaddress import ip_address
from typing import Any

import pytest

from memoryhub.common.outward import NotAsked, ask, may_be_asked
from memoryhub.common.outward.addresses import is_listed
from tests.receiver import knocks, resolving

WRITTEN = [
    # this machine
    "127.0.0.1", "127.0.0.1.", "127.1", "127.0.1", "127.255.255.254", "0.0.0.0", "0", "localhost",
    "LocalHost", "localhost.",
    "localhost.localdomain", "[::1]", "[0:0:0:0:0:0:0:1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    # the same in other numbers
    "2130706433", "017700000001", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "0x7f.1", "127.0.0.0x1", "0177.0.0.01",
    "00000177.0.0.1", "4294967295", "127.000.000.001", "0x0000007f000001", "3232235777", "0xa9fea9fe", "2852039166",
    "0251.0376.0251.0376", "1.1.1.1.1", "256.256.256.256", "127.0.0.1:80",
    # in other characters
    "１２７.０.０.１", "①②⑦.⓪.⓪.①", "127。0。0。1", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "127%2e0%2e0%2e1", "ｌｏｃａｌｈｏｓｔ",
    # private, shared, link-local
    "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255", "100.64.0.1",
    "100.127.255.255", "169.254.0.1", "[fc00::1]", "[fdff::1]", "[fe80::1]", "[fe80::1%25lo]", "[fec0::1]",
    # where clouds keep credentials
    "169.254.169.254", "169.254.170.2", "[fd00:ec2::254]", "[fd20:ce::254]", "100.100.100.200",
    "168.63.129.16", "192.0.0.192",
    "metadata.google.internal", "metadata", "instance-data",
    # IPv4 inside IPv6
    "[64:ff9b::7f00:1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b::10.0.0.1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]",
    "[2002:a9fe:a9fe::]", "[2002:c0a8:1::1]", "[2001:0:7f00:1::]", "[2001::1]", "[::ffff:169.254.169.254]",
    "[::ffff:0:127.0.0.1]", "[::a9fe:a9fe]", "[::ffff:8.8.8.8]",
    # of nobody
    "192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "198.19.255.255", "192.88.99.1", "192.0.0.1",
    "224.0.0.1",
    "239.255.255.250", "240.0.0.1", "255.255.255.255", "[ff02::1]", "[ff0e::1]", "[2001:db8::1]",
    "[3fff::1]", "[100::1]",
    "[2001:10::1]", "[2001:20::1]", "[5f00::1]",
]  # fmt: skip
LED_TO = {
    "loopback": ["127.0.0.1"],
    "six": ["::1"],
    "any": ["0.0.0.0"],
    "mapped": ["::ffff:127.0.0.1"],
    "private": ["10.0.0.5"],
    "shared": ["100.64.3.4"],
    "link": ["169.254.169.254"],
    "local-six": ["fd12:3456::1"],
    "link-six": ["fe80::1"],
    "nat64": ["64:ff9b::a00:1"],
    "sixtofour": ["2002:a00:1::"],
    "teredo": ["2001:0:4136:e378:8000:63bf:3fff:fdd2"],
    "multicast": ["224.0.0.251"],
    "azure": ["168.63.129.16"],
    "good-then-bad": ["8.8.8.8", "127.0.0.1"],
    "bad-then-good": ["127.0.0.1", "8.8.8.8"],
    "good-four-bad-six": ["8.8.8.8", "::1"],
    "good-six-bad-four": ["2606:4700:4700::1111", "192.168.1.1"],
}


def refused(url: str) -> bool:
    with pytest.raises(NotAsked):
        ask("POST", url, headers={}, content=b"x", seconds=2, most=10)
    return True


def test_no_spelling_of_an_address_inside_is_connected_to(capsys: Any) -> None:
    assert len(WRITTEN) == len(set(WRITTEN)) >= 80
    with knocks() as (port, came):
        tried = [
            refused(f"{scheme}://{host}{place}/")
            for host in WRITTEN
            for scheme in ("https", "http")
            for place in ("", f":{port}")
        ]
        assert came == []
        with socket.create_connection(("127.0.0.1", port)) as knock:
            assert knock.recv(1) == b""
        assert len(came) == 1
    with capsys.disabled():
        print(
            f"\n{len(WRITTEN)} spellings and {len(LED_TO)} names, {len(tried)} requests, 0 connections inside"
        )


@pytest.mark.parametrize("name", LED_TO)
def test_no_name_that_leads_inside_is_connected_to(name: str, monkeypatch: Any) -> None:
    asked = resolving(monkeypatch, {f"{name}.example": LED_TO[name]})
    with knocks() as (_port, came):
        assert refused(f"https://{name}.example/")
        assert refused(f"https://{name}.example:8443/")
    assert (len(asked), came) == (2, [])


def test_no_name_that_leads_to_one_of_these_addresses_is_connected_to(monkeypatch: Any) -> None:
    inside = [text.strip("[]") for text in WRITTEN if is_address(text.strip("[]"))]
    names = {f"n{at}.example": [address] for at, address in enumerate(inside)}
    asked = resolving(monkeypatch, names)
    with knocks() as (_port, came):
        assert all(refused(f"https://{name}/") for name in names)
    assert (len(inside) > 60, len(asked), came) == (True, len(inside), [])


def is_address(text: str) -> bool:
    try:
        return bool(ip_address(text))
    except ValueError:
        return False


def test_the_connection_goes_to_the_address_that_was_looked_at(monkeypatch: Any, settings: Any) -> None:
    """A name that leads elsewhere when it is looked up again is never looked up again."""
    settings.OUTGOING_NETWORKS = ["127.0.0.2/32"]
    with knocks() as (port, came):
        asked = resolving(monkeypatch, {"turn.example": ["127.0.0.2"]}, then={"turn.example": ["127.0.0.1"]})
        assert refused(f"http://turn.example:{port}/")
        assert (asked, came) == (["turn.example"], [])
        assert refused(f"http://turn.example:{port}/")
        assert (len(asked), came) == (2, [])


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "64:ff9b::808:808"])
def test_public_addresses_may_be_asked(address: str) -> None:
    assert may_be_asked(address)


def test_a_listed_network_may_be_asked_but_for_where_credentials_are(settings: Any) -> None:
    settings.OUTGOING_NETWORKS = ["0.0.0.0/0", "::/0"]
    for address in ("127.0.0.1", "10.0.0.1", "fd12::1", "64:ff9b::a00:1"):
        assert is_listed(address)
    for address in (
        "169.254.169.254",
        "fd00:ec2::254",
        "168.63.129.16",
        "224.0.0.1",
        "fe80::1",
        "64:ff9b::a9fe:a9fe",
    ):
        assert not is_listed(address)
        assert not may_be_asked(address)


@pytest.mark.parametrize("text", ["", "x", "127.0.0.1/8", "1.2.3", "fe80::1%lo", "::ffff:8.8.8.8"])
def test_what_is_no_plain_public_address_may_not(text: str) -> None:
    assert not may_be_asked(text)
