"""What may be named at all: one way to write an address, and nothing that two readers could read differently."""

import pytest

from memoryhub.common.outward import BadAddress, read_place

GOOD = {
    "https://example.com": ("example.com", 443, "/"),
    "https://Example.COM/a?b=c": ("example.com", 443, "/a?b=c"),
    "HTTPS://example.com:8443/": ("example.com", 8443, "/"),
    "https://example.com./x": ("example.com", 443, "/x"),
    "https://example.com?x=1": ("example.com", 443, "/?x=1"),
    "https://8.8.8.8/": ("8.8.8.8", 443, "/"),
    "https://[2606:4700:4700::1111]/": ("2606:4700:4700::1111", 443, "/"),
    "https://bücher.example/": ("xn--bcher-kva.example", 443, "/"),
    "https://例え。テスト.example/": ("xn--r8jz45g.xn--zckzah.example", 443, "/"),
    "https://hooks_x.example.com/%7Eann/": ("hooks_x.example.com", 443, "/%7Eann/"),
}
BAD = [
    "", "example.com", "//example.com/", "ftp://example.com/", "file:///etc/passwd", "gopher://example.com/",
    "javascript:alert(1)", "data:text/html,x", "http://example.com/", "https:///path", "https://", "https:example.com",
    "https://example.com:80/", "https://example.com:22/", "https://example.com:0/", "https://example.com:99999/",
    "https://example.com:/", "https://example.com:443x/", "https://user@example.com/", "https://user:pw@example.com/",
    "https://example.com@127.0.0.1/", "https://example.com\\@127.0.0.1/", "https://example.com/#x",
    "https://example.com /", " https://example.com/", "https://exam\tple.com/", "https://example.com/\r\nHost: x",
    "https://example.com/a b", "https://exa%6Dple.com/", "https://127%2e0.0.1/", "https://example..com/",
    "https://.example.com/", "https://-example.com/", "https://example-.com/", "https://exam ple.com/",
    "https://*.example.com/", f"https://{'a' * 64}.example/", f"https://{'a.' * 130}example/",
    f"https://example.com/{'a' * 2000}", "https://example.com/ü", "https://localhost/", "https://LOCALHOST./",
    "https://api.localhost/", "https://printer.local/", "https://metadata.google.internal/", "https://intranet/",
    "https://host.docker.internal/", "https://router.home.arpa/", "https://redis/", "https://[::1",
    "https://[fe80::1%25eth0]/", "https://[::1]extra/", "https://[vF.x]/", "https://exam\u200bple\u2100.com/",
]  # fmt: skip


@pytest.mark.parametrize("url", GOOD)
def test_a_public_address_is_read(url: str) -> None:
    place = read_place(url)
    assert (place.host, place.port, place.target) == GOOD[url]
    assert read_place(place.url) == place


@pytest.mark.parametrize("url", BAD)
def test_what_is_odd_or_inside_is_refused_before_anything_is_looked_up(url: str) -> None:
    with pytest.raises(BadAddress):
        read_place(url)


def test_a_refusal_repeats_nothing_of_what_was_typed() -> None:
    for url in BAD:
        with pytest.raises(BadAddress) as refusal:
            read_place(url)
        assert url in ("", "https://") or url not in str(refusal.value)


def test_a_listed_network_opens_names_ports_and_plain_http(settings) -> None:
    settings.OUTGOING_NETWORKS = ["10.0.0.0/8"]
    for url in ("http://n8n:5678/hook", "https://ci.internal/", "http://10.1.2.3:8080/"):
        assert read_place(url).url.startswith(url.removesuffix("/hook"))
    for url in ("http://192.168.1.1/", "http://8.8.8.8/", "https://8.8.8.8:9000/"):
        with pytest.raises(BadAddress):
            read_place(url)
