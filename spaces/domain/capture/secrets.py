"""Whether a text holds what must not be kept. Captured text is not cut but passed over: nobody asked to keep it."""

import re

from memoryhub.common.secrets import find, marked

TOLD = re.compile(
    r"(?:pass(?:word|wort|wd|phrase|code)|\bpin\b|secret|api[_ -]?key|access[_ -]?key|token|credentials?"
    r"|パスワード|暗証番号|密码|密碼|口令|비밀번호)[^\s:=]{0,12}\s*(?:is|are|was|ist|lautet|:|=|は|是|为|為|：|＝)\s*\S{3,}"
    r"|\b(?:sk-|rk_live_|gh[opsu]_|github_pat_|glpat-|xox[abeprs]-|AKIA|ASIA|AIza)[\w.-]{10,}",
    re.I,
)
"""By the words beside it: more than is cut elsewhere, since nothing is lost that somebody asked to keep."""


def holds_secret(text: str) -> bool:
    """One that is still there, or the mark of one that was cut out on its way here."""
    return bool(TOLD.search(text) or find(text) or marked(text))
