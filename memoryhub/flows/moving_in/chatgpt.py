"""ChatGPT's saved memories: a list, one a line, as it is copied from the settings or told in a chat."""

import re

from memoryhub.flows.moving_in.statements import Statements

SYSTEM = "ChatGPT"
MARK = re.compile(r"^(?:[-*•]|\d+[.)])\s+")
DATED = re.compile(r"^\[?(?P<day>\d{4}-\d{2}-\d{2})\]?[.:\s–—-]+")


def read(text: str, path: str) -> Statements:
    found = Statements(SYSTEM, path)
    for number, line in enumerate(text.splitlines(), 1):
        said = MARK.sub("", line.strip())
        day = DATED.match(said)
        said = said[day.end() :] if day else said
        if said:
            found.add(number, said, said, created_at=day["day"] if day else None, agent=SYSTEM)
    return found
