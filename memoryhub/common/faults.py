"""Faults of our own, told without telling what was stored."""

import logging
import traceback

from django.db import InterfaceError, OperationalError

from memoryhub.common.errors import HubError, Internal, Unavailable
from memoryhub.common.ids import new_id
from memoryhub.common.logs import chain

logger = logging.getLogger(__name__)


def refusal_for(fault: Exception, doing: str) -> HubError:
    """What the caller is told of an exception. Unless it is a refusal already, it is logged."""
    if isinstance(fault, HubError):
        return fault
    request_id = new_id().hex
    log(fault, doing, request_id)
    if isinstance(fault, OperationalError | InterfaceError):
        return Unavailable("The database did not answer. Try again in a moment.", request_id=request_id)
    return Internal("Something went wrong on our side.", request_id=request_id)


def log(fault: Exception, doing: str, request_id: str) -> None:
    """The kinds of the exceptions and where they arose; their messages may repeat stored text."""
    kinds = " from ".join(type(link).__qualname__ for link in chain(fault))
    places = "".join(traceback.format_tb(fault.__traceback__))
    logger.error("%s failed (request %s): %s\n%s", doing, request_id, kinds, places)
