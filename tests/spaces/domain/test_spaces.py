import re
from collections.abc import Iterator

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from memoryhub.common.errors import ValidationFailed
from spaces.domain.spaces import TAKEN_SLUGS, create_space
from tests.conftest import Cast

PAGE_OF_THE_TEAM = re.compile(r"a/<slug:account>/([a-z-]+)/")


def addresses(resolver: URLResolver, before: str = "") -> Iterator[str]:
    for entry in resolver.url_patterns:
        address = before + str(entry.pattern)
        yield from [address] if isinstance(entry, URLPattern) else addresses(entry, address)


def test_every_first_part_of_a_page_of_the_team_is_taken() -> None:
    found = filter(None, map(PAGE_OF_THE_TEAM.match, addresses(get_resolver())))
    assert {page[1] for page in found} == TAKEN_SLUGS


@pytest.mark.usefixtures("inside")
@pytest.mark.parametrize("slug", sorted(TAKEN_SLUGS))
def test_no_space_gets_the_address_of_a_page(cast: Cast, slug: str) -> None:
    for chosen in ({"slug": slug}, {"name": slug.title()}):
        with pytest.raises(ValidationFailed) as refused:
            create_space(cast.owner, **{"name": "A space", **chosen})
        assert list(refused.value.details["fields"]) == ["slug"]
