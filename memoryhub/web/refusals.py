"""What a request is told that no view has seen."""

import logging

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponseBadRequest
from django.template.loader import render_to_string

log = logging.getLogger("memoryhub")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBadRequest:
    """It can't be read; or it names a host that isn't the hub's, which whoever runs it can put right."""
    strange = isinstance(exception, DisallowedHost)
    if strange:
        log.warning(
            "Asked under a name that is not this hub's: set PUBLIC_URL or ALLOWED_HOSTS to what it is."
        )
    return HttpResponseBadRequest(render_to_string("400.html", {"strange": strange}))
