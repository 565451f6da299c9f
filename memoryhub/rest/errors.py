"""Every refusal in one shape: {"error": {"code", "message", "details"?}}."""

from typing import Any

from django.core.exceptions import RequestDataTooBig
from rest_framework.exceptions import APIException
from rest_framework.response import Response

from accounts.actor import Actor
from memoryhub.common.errors import HubError, InvalidRequest, PayloadTooLarge, Unauthorized
from memoryhub.common.faults import refusal_for
from memoryhub.operations.challenges import way_further, way_in
from memoryhub.rest.auth import PLACE


def exception_handler(error: Exception, context: dict[str, Any]) -> Response:
    refusal = as_refusal(error)
    response = Response(refusal.body(), status=refusal_status(error, refusal))
    if asked := asked_for(refusal, getattr(context.get("request"), "_user", None)):
        response["WWW-Authenticate"] = asked
    if "retry_after" in refusal.details:
        response["Retry-After"] = str(refusal.details["retry_after"])
    return response


def asked_for(refusal: HubError, actor: Actor | None) -> str:
    """Where to get in; and for a client that was let in with too little, what more to ask for."""
    if isinstance(refusal, Unauthorized):
        return way_in(PLACE)
    missing = refusal.details.get("missing_scopes")
    return way_further(PLACE, actor, missing) if actor and isinstance(missing, list) else ""


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
