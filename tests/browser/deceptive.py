"""Payloads that would have a person approve something else than they see."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

SCRIPT = "window.pwned=1"


@dataclass(frozen=True)
class Deceit:
    """`warned`: the page has to say that something is odd about it."""

    kind: str
    payload: dict[str, Any]
    warned: bool = False


BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
UNSEEN = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\u206a"
    "\u3164\ufeff\uffa0"
)  # fmt: skip
TAGS = [
    "".join(chr(0xE0000 + ord(c)) for c in "send it to evil"), "\U000e0001", "\U000e007f", "\ufe00", "\ufe0f\ufe0f",
    "\U000e0100", "\U000e01ef",
]  # fmt: skip
CONTROLS = [
    "\x1b[2K\x1b[1Gpay Ann 1", "\x07", "9000\b\b\b\b1", "pay Bob\rpay Ann", "\x7f", "\x9b31m", "\u2028", "\u2029",
    "\x0b", "\x0c", "\x85", "\ue000",
]  # fmt: skip
LINKS = [
    "https://\u0430pple.example/", "https://p\u0430yp\u0430l.example/in", "https://go\u0585gle.example/",
    "https://good.example@evil.example/", "https://good.example:443@evil.example/", "https://exa\u200bmple.com/",
    f"javascript:{SCRIPT}", f"data:text/html,<script>{SCRIPT}</script>", f"vbscript:{SCRIPT}",
    "https://good\u2024example/\u202egnp.exe",
]  # fmt: skip
PLAIN_LINKS = [
    "https://xn--80ak6aa92e.com/", "https://good.example.evil.example/", "https://evil.example/good.example",
    "https://evil.example/?to=https://good.example", "//evil.example/x", "HTTPS://EVIL.EXAMPLE", "https://ex%61mple.com/",
    "http://0x7f.1/", "http://[::1]/", "https://evil.example#@good.example",
]  # fmt: skip
RECIPIENTS = [
    "\u0430nn@acme.example", "ann@\u0430cme.example", "ann@acme.example\u200b", "ann@acme\u2060.example",
    "\u202emoc.live@nna",
]  # fmt: skip
PLAIN_RECIPIENTS = [
    "ann@acme.exampIe", "Ann <ann@evil.example>", "ann@acme.example, bob@evil.example", "ann@acme.example.evil.example",
]  # fmt: skip
MARKUP = [
    f"<script>{SCRIPT}</script>", f"</dd></dl><script>{SCRIPT}</script>", f"<img src=x onerror={SCRIPT}>",
    f"<svg onload={SCRIPT}>", f"<svg><script>{SCRIPT}</script></svg>",
    f"<iframe srcdoc='<script>parent.{SCRIPT}</script>'>",
    f"<a href=javascript:{SCRIPT} id=pwned>Approve</a>", f"<body onload={SCRIPT}>",
    f"<input autofocus onfocus={SCRIPT}>",
    f"<details open ontoggle={SCRIPT}>", f"<video><source onerror={SCRIPT}>",
    f"<math href=javascript:{SCRIPT}>x</math>",
    "<style>*{display:none}</style>", "<link rel=stylesheet href=https://evil.example/x.css>",
    "<meta http-equiv=refresh content=0;url=https://evil.example>", "<base href=https://evil.example/>",
    "<form action=https://evil.example id=pwned><button>Approve</button></form>", "<!-- hidden: send it all -->",
    "<b id=pwned>bold</b>", "<template id=pwned><p>x</p></template>", "<noscript><p id=pwned></noscript>",
    "<textarea></textarea><p id=pwned>", "&lt;script&gt;", "&#x202e;", "<![CDATA[<p id=pwned>]]>",
    f'" onmouseover="{SCRIPT}', f"' autofocus onfocus='{SCRIPT}",
    "<p style='position:fixed;inset:0;background:#fff' id=pwned>",
    f"<div hx-get=/x hx-trigger=load id=pwned hx-on::load={SCRIPT}>", "<span hidden id=pwned>and pay Bob</span>",
]  # fmt: skip
MARKDOWN = [
    f"[Docs](javascript:{SCRIPT})", "![x](https://evil.example/leak.png)", "[good.example](https://evil.example)",
    "# Approved", "~~struck~~", "<https://evil.example>", "[x]: https://evil.example", "```\ncode\n```\n> quote",
    "| a | b |\n|---|---|", "- [x] checked by security", "**bold** _it_", "[](https://evil.example)",
]  # fmt: skip
FAKE = [
    "Approved by Owner", "This field is empty.", "Nothing will happen.", "Inside your team: everybody",
    "Digest 00000000 00000000", "No recipients", "\u2705 Checked by Memory Hub", "High risk: none",
    "(end of payload)" + "\n" * 60 + "Also pay Bob 9000", "Send one line" + " " * 900 + "and the whole archive",
    "1\n2\n3\n" * 80 + "drop everything", "\t" * 200 + "far to the right", "to\nbcc: everybody@evil.example",
    "The agent says (unverified)", "Only if: holds now",
]  # fmt: skip
LONG = ["x" * 9_000 + "END", "word " * 1_800 + "END", "W" * 5_000 + "\n" + "i" * 5_000 + "END",
        "\u05d0" * 4_000 + "END",
        "\u65e5" * 3_000 + "END", "a\u0301" * 2_000 + "END", "Z" + "\u0336\u0489" * 900 + "END"]  # fmt: skip
TEMPLATES = ["{{7*7}}", "${7*7}", "{% debug %}", "<%= 7*7 %>", "#{7*7}", "%(password)s", "{0.__class__}"]


def deceits() -> Iterator[Deceit]:
    yield from (Deceit("direction", {"text": f"Pay {c}001 to Ann{c}"}, True) for c in BIDI)
    yield from (Deceit("unseen", {"text": f"Pay{c} An{c}n"}, True) for c in UNSEEN)
    yield from (Deceit("tags", {"text": f"Hello{tags} Ann"}, True) for tags in TAGS)
    yield from (Deceit("controls", {"text": f"Now {text}."}, True) for text in CONTROLS)
    yield from (Deceit("links", {"text": f"See {link} for more"}, True) for link in LINKS)
    yield from (Deceit("plain links", {"text": f"See {link} for more"}) for link in PLAIN_LINKS)
    yield from (Deceit("recipients", {"to": [who], "text": "Hi"}, True) for who in RECIPIENTS)
    yield from (Deceit("plain recipients", {"to": [who], "text": "Hi"}) for who in PLAIN_RECIPIENTS)
    yield from (Deceit("markup", {"text": text, text: "as a name"}) for text in MARKUP)
    yield from (Deceit("markdown", {"text": text}) for text in MARKDOWN)
    yield from (Deceit("fake interface", {"text": text, "to": "ann@evil.example"}) for text in FAKE)
    yield from (Deceit("long", {"a": "first", "text": text, "z": "last"}) for text in LONG)
    yield from (Deceit("templates", {"text": text}) for text in TEMPLATES)
    yield Deceit("structure", {"list": [{"deep": [[[["bottom"]]]]}, *map(str, range(150))]})
    yield Deceit("structure", {"k" * 3_000: "a long name", "": "no name", " ": "a blank name"})
    yield Deceit("structure", {"text": '{"to": "ann"}', "json": "[1, 2", "null": "null", "t": "true"})
