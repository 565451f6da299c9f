"""Telling a transcript from a summary: what was said, turn by turn, is not what was decided."""

import json
import re
from collections import Counter
from typing import Any

TURNS = 6
SPEAKERS = (
    r"user|human|assistant|ai|system|developer|tool|bot|model|agent|claude|chatgpt|gpt|copilot|gemini|customer|me|you"
    r"|nutzer|benutzer|mensch|assistent|utilisateur|usuario|asistente|ユーザー|人間|アシスタント|用户|使用者|助手|系统"
)
PREFIX = r"[-*>#|\s]{0,40}(?:\[[^\]\n]{1,30}\]\s*|\(?\d{1,2}:\d{2}(?::\d{2})?\)?\s*)?[*_`]{0,8}"
LABELLED = re.compile(rf"^{PREFIX}(?P<who>(?:{SPEAKERS})(?:[ _-]?\d+)?)\s*[*_`]*\s*[:：>]", re.I)
NAMED = re.compile(
    rf"^{PREFIX}(?P<who>[^\W\d_][\w.'-]{{0,20}}(?: [^\W\d_][\w.'-]{{0,20}})?)[*_`]*\s*[:：]\s*\S"
)
HEADINGS = re.compile(
    r"^(?:decisions?|decided|preferences?|facts?|questions?|open|answers?|handoffs?|done|todo|next|notes?|risks?|why|what"
    r"|when|where|who|how|goals?|plans?|results?|status|fix(?:ed)?|issues?|summary|context|actions?|blockers?|https?)\b",
    re.I,
)
ROLES, BODIES = (
    {"role", "speaker", "author", "from", "sender"},
    {"content", "text", "parts", "message", "value"},
)


def is_transcript(text: str) -> bool:
    """Six or more lines that begin with a speaker's label, or a chat as JSON."""
    lines = text.splitlines()
    return sum(bool(LABELLED.match(line)) for line in lines) >= TURNS or _takes_turns(lines) or _is_chat(text)


def _takes_turns(lines: list[str]) -> bool:
    """A few names, no headings, that speak again and again."""
    labels = (match["who"].casefold() for match in map(NAMED.match, lines) if match)
    turns = Counter(label for label in labels if not HEADINGS.match(label))
    again = [count for count in turns.values() if count > 1]
    return len(again) > 1 and sum(again) >= TURNS


def _is_chat(text: str) -> bool:
    if '"' not in text:
        return False
    whole = _parsed(text)
    messages = whole.get("messages", whole) if isinstance(whole, dict) else whole
    if isinstance(messages, list):
        return any(map(_is_turn, messages))
    turns = [_parsed(line) for line in text.splitlines() if line.lstrip().startswith("{")]
    return _is_turn(messages) or (len(turns) > 1 and all(map(_is_turn, turns)))


def _is_turn(value: Any) -> bool:
    return isinstance(value, dict) and bool(ROLES & value.keys()) and bool(BODIES & value.keys())


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
