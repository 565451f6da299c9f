import pytest

from memoryhub.common.signing import SigningFault, is_signed, key_id, new_signing_key, public_key, sign


def test_only_what_was_signed_with_that_key_is_signed() -> None:
    key, other = new_signing_key(), new_signing_key()
    signature = sign(b"at noon", key)
    assert is_signed(b"at noon", signature, public_key(key))
    assert not is_signed(b"at one", signature, public_key(key))
    assert not is_signed(b"at noon", signature, public_key(other))
    assert not is_signed(b"at noon", signature[:-1], public_key(key))
    assert key_id(public_key(key)) != key_id(public_key(other))


@pytest.mark.parametrize("key", ["", "short", "!" * 43, "A" * 44])
def test_a_key_of_another_form_is_refused_without_being_told(key: str) -> None:
    with pytest.raises(SigningFault, match="32 bytes") as fault:
        sign(b"", key)
    assert not key or key not in str(fault.value)
