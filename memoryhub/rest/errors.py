"""Every refusal in one shape: {"error": {"code", "message", "details"?}}."""

import logging
from typing import Any

from django.core.exceptions import RequestDataTooBig
from rest_framework.exceptions import APIException
from rest_framework.response import Response

from memoryhub.common.errors import HubError, Internal, InvalidRequest, PayloadTooLarge, Unauthorized
from memoryhub.common.ids import new_id
from memoryhub.rest.auth import challenge

log = logging.getLogger(__name__)


def exception_handler(error: Exception, context: dict[str, Any]) -> Response:
    refusal = as_refusal(error)
    response = Response(refusal.body(), status=refusal_status(error, refusal))
    if isinstance(refusal, Unauthorized):
        response["WWW-Authenticate"] = challenge()
    if "retry_after" in refusal.details:
        response["Retry-After"] = str(refusal.details["retry_after"])
    return response


def as_refusal(error: Exception) -> HubError:
    if isinstance(error, HubError):
        return error
    if isinstance(error, RequestDataTooBig):
        return PayloadTooLarge("The request body is too large; the limit is 1 MiB.")
    if isinstance(error, APIException):
        return InvalidRequest(str(error.detail))
    return internal(error)


def internal(error: Exception) -> Internal:
    """Log the fault under an id that the caller is told; its message may hold stored text and stays here."""
    request_id = new_id().hex
    log.error("request %s failed with %s", request_id, type(error).__name__, exc_info=error)
    return Internal(
        "Something went wrong on our side. Quote the request id when you report it.", request_id=request_id
    )


def refusal_status(error: Exception, refusal: HubError) -> int:
    return error.status_code if isinstance(error, APIException) else refusal.status
