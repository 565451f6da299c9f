"""The document describes every address that is served, and nothing else."""

import re

from memoryhub.rest.openapi import document
from memoryhub.rest.urls import urlpatterns

OF_ITS_OWN = {"openapi", "unknown"}


def test_every_address_is_described() -> None:
    served = {
        "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", str(pattern.pattern))
        for pattern in urlpatterns
        if pattern.name not in OF_ITS_OWN
    }
    assert served == set(document()["paths"])


def test_files_come_and_go_as_they_are() -> None:
    paths = document()["paths"]
    assert list(paths["/export"]["get"]["responses"]["200"]["content"]) == ["application/zip"]
    assert list(paths["/import"]["post"]["requestBody"]["content"]) == ["application/octet-stream"]
    assert paths["/import"]["post"]["x-scopes"] == ["space:admin"]


def test_no_two_addresses_have_one_name() -> None:
    names = [told["operationId"] for methods in document()["paths"].values() for told in methods.values()]
    assert len(names) == len(set(names))
