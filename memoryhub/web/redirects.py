from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme


def wanted_address(request: HttpRequest, fallback: str = "/") -> str:
    """Where a form asks to go back to, if that is one of our own pages."""
    wanted = request.POST.get("next", "")
    own = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if own and wanted.startswith("/") else fallback
