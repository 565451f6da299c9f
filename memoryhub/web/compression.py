"""Pages, styles and scripts go out compressed; what agents fetch is left as it is."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

PAGE_TYPES = ("text/html", "text/css", "text/javascript", "image/svg+xml")


class PageGZipMiddleware(GZipMiddleware):
    """Comes before whatever serves files. Django pads what it compresses, so that lengths tell nothing."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.headers.get("Content-Type", "").partition(";")[0] not in PAGE_TYPES:
            return response
        compressed: HttpResponseBase = super().process_response(request, response)
        return compressed
