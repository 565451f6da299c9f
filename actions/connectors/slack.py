"""slack.send: `chat.postMessage`.

`message` is plain text, and everything in it is taken literally. It is kept as `text`, in Slack's own form,
where `&`, `<` and `>` are written as entities; only who is listed in `mentions` is notified.
"""

import re
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import Field

from actions.connectors.base import (
    Ask,
    Call,
    Connector,
    Given,
    Payload,
    Unresolvable,
    many_lines,
    read,
    refused,
    without_empty,
)
from memoryhub.common.text import is_blank

TEXT = 40_000
PAGES = 50
CHANNEL_ID = re.compile(r"[CGDU][A-Z0-9]{7,20}")
CHANNEL_NAME = re.compile(r"#?([^\s#@<>&,.:;!?'\"()]{1,80})")
MENTION = re.compile(r"<(?:@([UW][A-Z0-9]{2,20})|!subteam\^(S[A-Z0-9]{2,20})|!(channel|here|everyone))>")
ENTITY = re.compile(r"&(?:amp|lt|gt);")
SPECIAL = re.compile(r"[&<>]")
EVENT_TYPE = "memory_hub_action"

Mention = Annotated[str, Field(pattern=r"^(?:[UWS][A-Z0-9]{2,20}|channel|here|everyone)$")]


class SlackMessage(Payload):
    channel: str = Field(min_length=1, max_length=81)
    message: str = ""
    text: str = ""
    mentions: list[Mention] = Field(default_factory=list, max_length=50)
    thread_ts: str = Field(default="", pattern=r"^(?:[0-9]{10}\.[0-9]{6})?$")
    channel_name: str = ""  # only Slack can say: whatever is given is looked up anew


def normalise(payload: Given, zone: ZoneInfo) -> dict[str, Any]:
    given = read(SlackMessage, payload)
    if bool(given.message) == bool(given.text):
        raise refused("message", "Send either message (plain text) or text (in Slack's own form).")
    text = _checked(given) if given.text else _escaped(given)
    members = {
        "channel": _channel(given.channel),
        "text": _limited(text),
        "mentions": _mentioned(text),
        "thread_ts": given.thread_ts,
    }
    return without_empty(members)


def unresolved(payload: Given) -> list[str]:
    """A name may come to mean another channel, its id doesn't; and to people an id says nothing."""
    return [] if "channel_name" in payload else ["channel"]


def resolve(ask: Ask, payload: Given) -> dict[str, Any]:
    known = payload["channel"]
    channel = _with_id(ask, known) if CHANNEL_ID.fullmatch(known) else _named(ask, known[1:])
    name = channel.get("name") or channel.get("user") or channel["id"]
    return {**payload, "channel": channel["id"], "channel_name": f"#{name}" if "name" in channel else name}


def find(ask: Ask, payload: Given, marker: str) -> dict[str, Any] | None:
    """Among the channel's latest messages, or the thread's."""
    query = {"channel": payload["channel"], "include_all_metadata": "true", "limit": "200"}
    path = "/api/conversations.history"
    if "thread_ts" in payload:
        path, query["ts"] = "/api/conversations.replies", payload["thread_ts"]
    messages = ask(Call("GET", path, query=query)).get("messages", [])
    mine = (m for m in messages if _marker(m) == marker)
    return next(({"channel": payload["channel"], "ts": m["ts"]} for m in mine), None)


def receipt(answer: dict[str, Any]) -> dict[str, Any]:
    return {"channel": answer["channel"], "ts": answer["ts"]}


def call(payload: Given, marker: str) -> Call:
    more = {"metadata": {"event_type": EVENT_TYPE, "event_payload": {"id": marker}}}
    if "thread_ts" in payload:
        more["thread_ts"] = payload["thread_ts"]
    return posting(payload["channel"], payload["text"], **more)


def posting(channel: str, text: str, **more: Any) -> Call:
    """What is said in Slack's form: nothing in it becomes a link or a mention that isn't written as one."""
    literal = {"parse": "none", "link_names": False, "unfurl_links": False, "unfurl_media": False}
    return Call("POST", "/api/chat.postMessage", {"channel": channel, "text": text, **literal, **more})


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _with_id(ask: Ask, id: str) -> dict[str, Any]:
    if id.startswith("U"):
        return {"id": id}
    channel: dict[str, Any] = ask(Call("GET", "/api/conversations.info", query={"channel": id}))["channel"]
    return channel


def _named(ask: Ask, name: str) -> dict[str, Any]:
    query = {"exclude_archived": "true", "limit": "200", "types": "public_channel,private_channel"}
    for _ in range(PAGES):
        page = ask(Call("GET", "/api/conversations.list", query=query))
        for channel in page["channels"]:
            if channel["name"] == name:
                found: dict[str, Any] = channel
                return found
        query["cursor"] = page.get("response_metadata", {}).get("next_cursor", "")
        if not query["cursor"]:
            break
    raise Unresolvable(f"Slack shows this connection no channel #{name}.")


def _marker(message: dict[str, Any]) -> str:
    metadata = message.get("metadata", {})
    return (
        str(metadata.get("event_payload", {}).get("id", ""))
        if metadata.get("event_type") == EVENT_TYPE
        else ""
    )


def _channel(given: str) -> str:
    if CHANNEL_ID.fullmatch(given.strip()):
        return given.strip()
    name = CHANNEL_NAME.fullmatch(given.strip())
    if name is None or name[1] != name[1].lower():
        raise refused("channel", "Must be a channel's name like #general, in lower case, or its id.")
    return f"#{name[1]}"


def _escaped(given: SlackMessage) -> str:
    """Plain text in Slack's form; what looks like a mention stays one only if it is listed."""
    text, parts, at = many_lines("message", given.message, TEXT), [], 0
    for mention in MENTION.finditer(text):
        parts += [escape(text[at : mention.start()]), _kept(mention, given.mentions)]
        at = mention.end()
    return "".join([*parts, escape(text[at:])])


def _kept(mention: re.Match[str], listed: list[str]) -> str:
    return mention[0] if _target(mention) in listed else escape(mention[0])


def _checked(given: SlackMessage) -> str:
    """Text in Slack's form, in which nothing is left that could be read as anything but text or a mention."""
    text = many_lines("text", given.text, TEXT)
    if unlisted := [m for m in _mentioned(text) if m not in given.mentions]:
        raise refused("mentions", f"Must list whom text mentions; {len(unlisted)} are missing.")
    if SPECIAL.search(ENTITY.sub("", MENTION.sub("", text))):
        raise refused("text", "Must have &, < and > as &amp;, &lt; and &gt;. For plain text send message.")
    return text


def _limited(text: str) -> str:
    if is_blank(text):
        raise refused("message", "Must not be blank.")
    if len(text) > TEXT:
        raise refused("message", f"Must have at most {TEXT} characters in Slack's form. Shorten it.")
    return text


def _mentioned(text: str) -> list[str]:
    return list(dict.fromkeys(_target(mention) for mention in MENTION.finditer(text)))


def _target(mention: re.Match[str]) -> str:
    return mention[1] or mention[2] or mention[3]


SLACK_SEND = Connector("slack.send", "slack", "slack", 1, normalise, call, find, receipt, unresolved, resolve)
