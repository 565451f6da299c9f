"""Every refusal in one shape: {"error": {"code", "message", "details"?}}."""

from typing import Any

from django.core.exceptions import RequestDataTooBig
from rest_framework.exceptions import APIException
from rest_framework.response import Response

from memoryhub.common.errors import HubError, InvalidRequest, PayloadTooLarge, Unauthorized
from memoryhub.common.faults import refusal_for
from memoryhub.rest.auth import challenge


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
    return refusal_for(error, "a REST request")


def refusal_status(error: Exception, refusal: HubError) -> int:
    return error.status_code if isinstance(error, APIException) else refusal.status
