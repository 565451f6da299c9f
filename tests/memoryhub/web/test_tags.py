from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.utils import timezone

from memoryhub.web.moments import spoken
from memoryhub.web.tags import ago, browser, changes, class_icon, laid_out, marked, safe_link, tree

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    '"><svg onload=alert(1)>',
    "[go](javascript:alert(1))",
    "{{7*7}}",
    "![x](https://evil.example/?leak)",
]
NOW = datetime(2026, 8, 8, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_as_text_by_every_filter(text):
    for shown in (
        tree({text: [text, {text: text}]}), changes(text, text + "!"), marked(text, [(0, 3)]), safe_link(text),
        laid_out(text), laid_out(f"# {text}\n- {text}\n> {text}\n```\n{text}\n```\n`{text}`"),
    ):  # fmt: skip
        assert "<img" not in shown
        assert "<script" not in shown
        assert "<svg" not in shown
        assert "49" not in shown
        assert "<a " not in shown


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "data:text/html,<script>", "JavaScript:x", " vbscript:x", "//evil.example", "file:///etc",
     "https://exa\u202emple.com", "no scheme"],
)  # fmt: skip
def test_only_plain_web_and_mail_addresses_become_links(address):
    assert "<a " not in safe_link(address)


def test_a_link_shows_its_address_whole():
    assert safe_link("https://example.com/a?b=<c>").startswith(
        '<a href="https://example.com/a?b=&lt;c&gt;" rel="noopener noreferrer" target="_blank">https://example.com/a'
    )


def test_a_json_value_is_laid_out_with_nothing_left_out():
    assert tree({"to": ["a", 1, None, True], "empty": {}, "none": "", "list": []}) == (
        '<dl class="facts"><dt>to</dt><dd><ul class="values">'
        '<li><span class="text">a</span></li><li><code>1</code></li><li><code>null</code></li>'
        "<li><code>true</code></li>"
        "</ul></dd><dt>empty</dt><dd><code>{}</code></dd><dt>none</dt><dd><code>&quot;&quot;</code></dd>"
        "<dt>list</dt><dd><code>[]</code></dd></dl>"
    )


@pytest.mark.parametrize(
    ("distance", "words"),
    [
        (timedelta(seconds=-5), "just now"),
        (timedelta(minutes=-3), "3 min ago"),
        (timedelta(hours=-5), "5 h ago"),
        (timedelta(days=-1), "1 day ago"),
        (timedelta(days=2, hours=3), "in 2 days"),
        (timedelta(days=3, seconds=-1), "in 3 days"),
        (timedelta(hours=24, seconds=-1), "in 1 day"),
        (timedelta(hours=1, seconds=-1), "in 1 h"),
        (timedelta(minutes=20, seconds=-1), "in 20 min"),
        (timedelta(days=-3, seconds=1), "2 days ago"),
        (timedelta(days=-40), "29 Jun"),
        (timedelta(days=-400), "4 Jul 2025"),
    ],
)
def test_times_are_short_and_relative_within_a_week(distance, words):
    assert spoken(NOW + distance, NOW) == words


@time_machine.travel(NOW, tick=False)
def test_a_time_has_its_exact_moment_in_the_viewers_zone_in_its_title():
    with timezone.override("Asia/Tokyo"):
        assert ago(NOW - timedelta(hours=1)) == (
            '<time datetime="2026-08-08T11:00:00+00:00" title="Sat 8 Aug 2026, 20:00:00 JST (UTC+09:00)">1 h ago</time>'
        )


@pytest.mark.parametrize(
    ("name", "icon"),
    [("slack.send", "chat"), ("gmail.reply", "mail"), ("calendar.create", "calendar"), ("github.create_issue", "code"),
     ("notion.create_page", "page"), ("deploy", "code"), ("pay.out", "action")],
)  # fmt: skip
def test_a_class_has_an_icon(name, icon):
    assert class_icon(name) == icon


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/150.0 Safari/537.36", "Chrome on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/150.0 Safari/537.36 Edg/150.0", "Edge on Windows"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on macOS"),
        ("Mozilla/5.0 (iPhone; iOS 19_0 like Mac OS X) AppleWebKit/605 Version/19.0 Safari/604", "Safari on iPhone"),
        ("Mozilla/5.0 (iPhone; iOS 19_0 like Mac OS X) AppleWebKit/605 CriOS/150.0 Safari/604", "Chrome on iPhone"),
        ("Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 Chrome/150.0 Mobile Safari/537.36", "Chrome on Android"),
        ("curl/8.0", "curl/8.0"),
        ("Elsewhere/1.0 (Linux)", "Elsewhere/1.0 (Linux)"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_browser_is_named_in_short_or_in_its_own_words(said, shown):
    assert browser(said) == shown
