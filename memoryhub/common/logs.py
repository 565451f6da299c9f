"""What is logged, by whatever logger, handler and process of ours: no secrets, no links or codes that let somebody in,
no values of a query; of exceptions their kinds and places, since their messages may repeat what is stored.

It is done where records are made, so that no handler can be forgotten, whoever adds it.
"""

import logging
import logging.config
import re
import sys
import threading
import traceback
from collections.abc import Mapping
from types import TracebackType
from typing import Any

LONGEST = 16 * 1024
UNREADABLE = "a line that could not be looked through for secrets is left out"
ACCESS = "uvicorn.access"

# Who holds one of these is let in, or gets what lies ready.
TOKENS = re.compile(
    r"((?:/welcome/|/reset/key/|/confirm-email/|/a/[^/\s]{1,80}/[^/\s]{1,80}/data/))[^/\s?#\"'<>]+"
)
ASKED = re.compile(r"(?<![^\s\"'<>])([^\s?\"'<>]*\?)([^\s\"'<>]+)")
CODES = re.compile(
    r"(?i)\b((?:code|code_verifier|token|access_token|refresh_token|id_token|client_secret)=)[^&\s\"'<>]+"
)
SAID = 4  # of an exception's message: shorter ones would be found everywhere
SETTINGS = ("BadEnvironment", "ImproperlyConfigured", "SetupError")
TOLD_BY_CELERY = ("exc", "traceback", "args", "kwargs", "return_value")

log = logging.getLogger("memoryhub")


def configure(config: dict[str, Any]) -> None:
    """What Django calls with LOGGING."""
    logging.config.dictConfig(config)
    be_careful()


def be_careful() -> None:
    """From now on, in this process. Hooks that somebody has put in already stay."""
    if logging.getLogRecordFactory() is not careful_record:
        logging.setLogRecordFactory(careful_record)
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _tell_end
    if threading.excepthook is threading.__excepthook__:
        threading.excepthook = _tell_end_of_thread


def careful_record(*args: Any, **kwargs: Any) -> logging.LogRecord:
    record = logging.LogRecord(*args, **kwargs)
    try:
        _clean(record)
    except Exception:
        record.msg, record.args, record.exc_info, record.exc_text = UNREADABLE, (), None, None
    return record


def without_secrets(text: str) -> str:
    """A line as it may be logged."""
    from memoryhub.common.secrets import cut_text  # its rules take a moment to read

    text = ASKED.sub(_without_values, TOKENS.sub(r"\1…", text))
    return cut_text(CODES.sub(r"\1…", text))[0]


def places(fault: BaseException) -> str:
    """Of it and of what it came from: kinds, and where they arose. Messages only of kinds that tell of settings,
    files and servers, never of rows."""
    return "\n".join(
        f"{_place(link)}{type(link).__module__}.{type(link).__qualname__}{_message(link)}"
        for link in reversed(chain(fault))
    )


def chain(fault: BaseException | None) -> list[BaseException]:
    links: list[BaseException] = []
    while fault is not None and fault not in links:
        links.append(fault)
        fault = fault.__cause__ or fault.__context__
    return links


def _clean(record: logging.LogRecord) -> None:
    fault = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
    if isinstance(record.args, Mapping) and fault is not None:
        record.args = {**record.args, **dict.fromkeys(TOLD_BY_CELERY, type(fault).__qualname__)}
    if record.name == ACCESS and isinstance(record.args, tuple):
        record.args = tuple(without_secrets(arg) if isinstance(arg, str) else arg for arg in record.args)
    else:
        _clean_message(record, fault)
    record.exc_text = places(fault) if fault is not None else None
    record.exc_info = None
    record.stack_info = None


def _clean_message(record: logging.LogRecord, fault: BaseException | None) -> None:
    said = _shortened(_without_messages(record.getMessage(), fault))
    clean = without_secrets(said)
    if clean != record.getMessage():
        record.msg, record.args = clean, ()


def _without_messages(text: str, fault: BaseException | None) -> str:
    """What a logger put into its line of an exception's message."""
    for link in chain(fault):
        for said in (repr(link), str(link)):
            if len(said) >= SAID:
                text = text.replace(said, type(link).__qualname__)
    return text


def _shortened(text: str) -> str:
    """Ends between two words: half a secret wouldn't be known for one."""
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST].rpartition(' ')[0]} … ({len(text)} characters)"


def _without_values(asked: re.Match[str]) -> str:
    """Of an address with a query, the names in it."""
    if "/" not in asked[1] or "=" not in asked[2]:
        return asked[0]
    return asked[1] + "&".join(f"{part.partition('=')[0]}=…" for part in asked[2].split("&"))


def _place(link: BaseException) -> str:
    return "".join(traceback.format_tb(link.__traceback__))


def _message(link: BaseException) -> str:
    if isinstance(link, OSError):
        return f": {link.strerror}" if link.strerror else ""
    if isinstance(link, ImportError) or type(link).__name__ in SETTINGS:
        return f": {without_secrets(str(link))}"
    state = getattr(link, "sqlstate", None)
    return f" (SQLSTATE {state})" if state else ""


def _tell_end(kind: type[BaseException], fault: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, fault, trace)
    else:
        log.critical("this process ends", exc_info=(kind, fault, trace))


def _tell_end_of_thread(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is not None and not isinstance(args.exc_value, SystemExit):
        name = args.thread.name if args.thread else "a thread"
        log.error("%s ends", name, exc_info=(args.exc_type, args.exc_value, args.exc_traceback))
