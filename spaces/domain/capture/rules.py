"""Which of what was said may be captured. The rules are asked in order, and the first that objects is the reason."""

import json
import re
from collections.abc import Callable

from spaces.domain.capture.triggers import trigger_in
from spaces.domain.transcripts import is_transcript

SHORTEST, LONGEST = 10, 500
ROLES = {"user": "user", "human": "user", "assistant": "agent", "ai": "agent"}
"""Role → whose words they are. What tools, systems and developers say is nobody's."""

ENVELOPES = re.compile(
    r"^\s*(?:```|<(?:\?xml|!DOCTYPE|/?[a-z][\w:-]*(?:\s[^>]{0,200})?/?>)"
    r"|data:|event:|id: |retry:|HTTP/\d|(?:GET|POST|PUT|PATCH|DELETE) /"
    r"|Traceback \(most recent call last\)|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|(?:DEBUG|INFO|WARN(?:ING)?|ERROR|TRACE)\b"
    r"|diff --git|@@ -\d|\$ |>>> |at [\w.$]+\(|tool[_ ]?(?:call|result|use|output)\b|function[_ ]call)"
    r"|</?(?:tool|function|system|antml|invoke|result|thinking|command|stdout|stderr)[\w:-]*[\s>]"
    r"|\"(?:jsonrpc|tool_call_id|tool_use_id|function_call|structuredContent)\"\s*:",
    re.I,
)
BLOB = re.compile(r"[A-Za-z0-9+/=_-]{80,}")

_EARLIER = r"(?:\w+\W+){0,4}?(?:previous|prior|above|earlier|all|any|your|these|system)\W+(?:\w+\W+){0,3}?"
_WHAT = r"(?:instructions?|prompts?|rules?|guidelines?|directives?|policies|restrictions?)"
INSTRUCTIONS = re.compile(
    rf"\b(?:ignore|disregard|forget|override|bypass)\W+{_EARLIER}{_WHAT}\b"
    r"|\byou (?:are|must|will) now\b|\byou must (?:always|never|call|send|run|obey)|\bsystem prompt\b|\bjailbreak"
    r"|\b(?:act|behave|respond|pretend) as (?:if|though|an? |the (?:system|admin|owner))"
    r"|\b(?:call|invoke|execute|run|use) the \w+ (?:tool|function|command)"
    r"|\b(?:do not|don't|never) (?:tell|inform|mention|reveal|show)\b.{0,40}\b(?:user|owner|human|anyone)"
    r"|\b(?:auto-?approve|already approved|without (?:asking|approval|confirmation))\b"
    r"|\b(?:all|every|any|future|other|the) (?:agents?|assistants?|models?) (?:must|should|shall|have to)\b"
    r"|(?:以前|これまで|上記|前|すべて|全て)の?(?:指示|命令|ルール)[^。\n]{0,8}(?:無視|忘れ)"
    r"|(?:忽略|无视|無視|忘记|忘記)[^。\n]{0,8}(?:指令|指示|提示|规则|規則|命令)"
    r"|\b(?:ignorier\w*|missachte\w*|vergiss)\b.{0,30}\b(?:anweisung\w*|regeln|befehle?|vorgaben)"
    r"|\b(?:ignore[rz]?|oublie[rz]?)\b.{0,30}\b(?:instructions?|consignes?|règles?)"
    r"|\b(?:ignora[rd]?|olvida[rd]?)\b.{0,30}\b(?:instrucciones|reglas|órdenes|istruzioni|regole)",
    re.I,
)


def size(role: str, text: str) -> bool:
    return not SHORTEST <= len(text) <= LONGEST


def role(role: str, text: str) -> bool:
    return role not in ROLES


def envelope(role: str, text: str) -> bool:
    """What tools and transports wrap, rather than what was said."""
    return bool(ENVELOPES.search(text) or BLOB.search(text)) or _is_json(text) or is_transcript(text)


def instruction(role: str, text: str) -> bool:
    """It speaks to the agent that will read it. A note that quotes such a phrase can be remembered by hand."""
    return bool(INSTRUCTIONS.search(text))


def no_trigger(role: str, text: str) -> bool:
    return not trigger_in(text)


RULES: dict[str, Callable[[str, str], bool]] = {
    "size": size,
    "role": role,
    "envelope": envelope,
    "instruction": instruction,
}


def _is_json(text: str) -> bool:
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return text.rstrip()[-1:] in ("}", "]")
    return True
