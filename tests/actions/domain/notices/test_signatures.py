"""Messages are signed as Standard Webhooks says: its own library takes them, and nothing that was changed."""

import time

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from actions.domain.notices.signatures import new_secret, signed

BODY = b'{"data":{},"type":"webhook.test"}'


def test_the_published_example_is_signed_as_published() -> None:
    headers = signed(
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        b'{"test": 2432232314}',
        ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    )
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_library_of_the_standard_takes_what_is_signed() -> None:
    secret = new_secret()
    headers = signed("msg_1", int(time.time()), BODY, [secret])
    assert Webhook(secret).verify(BODY, headers) == {"data": {}, "type": "webhook.test"}


def test_with_two_secrets_either_receiver_takes_it() -> None:
    old, new, other = new_secret(), new_secret(), new_secret()
    headers = signed("msg_1", int(time.time()), BODY, [new, old])
    for known in (old, new):
        assert Webhook(known).verify(BODY, headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(other).verify(BODY, headers)


@pytest.mark.parametrize(
    "change",
    [
        lambda headers, body: (headers, body + b" "),
        lambda headers, body: ({**headers, "webhook-id": "msg_2"}, body),
        lambda headers, body: ({**headers, "webhook-timestamp": str(int(time.time()) - 1)}, body),
        lambda headers, body: ({**headers, "webhook-signature": "v1,AAAA"}, body),
    ],
)
def test_whatever_is_changed_on_the_way_is_seen(change) -> None:
    secret = new_secret()
    headers, body = change(signed("msg_1", int(time.time()), BODY, [secret]), BODY)
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(body, headers)


def test_a_message_is_not_taken_long_after() -> None:
    secret = new_secret()
    headers = signed("msg_1", int(time.time()) - 600, BODY, [secret])
    with pytest.raises(WebhookVerificationError, match="old"):
        Webhook(secret).verify(BODY, headers)
