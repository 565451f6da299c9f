import logging

import pytest
from django.test import Client

FAULT = "Asked under a name that is not this hub's: set PUBLIC_URL or ALLOWED_HOSTS to what it is."


@pytest.mark.parametrize("address", ["/", "/accounts/login/", "/v1/whoami", "/nowhere"])
def test_a_name_that_is_not_the_hubs_is_told_what_to_set_and_logged_in_a_line(
    address: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        answer = Client(headers={"host": "evil.example"}).get(address)
    assert answer.status_code == 400
    assert "doesn’t answer to the name in your browser’s address" in answer.text
    assert "evil.example" not in answer.text
    assert [record.getMessage() for record in caplog.records] == [FAULT]
