import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryhub.common.ids import new_id
from memoryhub.common.keyring import KeyringFault, is_current, new_entry, read_keyring, row_of, seal, unseal

ACCOUNT, ROW = new_id(), new_id()
HERE = row_of("actions_connection", ACCOUNT, ROW, "tokens")
OLD, NEW = new_entry(), new_entry()


@pytest.fixture(autouse=True)
def keyring(settings):
    settings.KEYRING = OLD
    return settings


def test_what_is_sealed_opens_in_its_own_row_alone() -> None:
    sealed = seal("xoxb-1", row=HERE)
    assert unseal(sealed, row=HERE) == "xoxb-1"
    for elsewhere in (
        row_of("actions_connection", ACCOUNT, new_id(), "tokens"),
        row_of("actions_connection", new_id(), ROW, "tokens"),
        row_of("actions_webhook", ACCOUNT, ROW, "tokens"),
        row_of("actions_connection", ACCOUNT, ROW, "name"),
    ):
        with pytest.raises(KeyringFault, match="doesn't open"):
            unseal(sealed, row=elsewhere)


def test_the_form_names_version_and_key_and_never_repeats() -> None:
    one, other = seal("same", row=HERE), seal("same", row=HERE)
    assert one.split(".")[:2] == ["v1", OLD.partition(":")[0]]
    assert one != other
    assert "same" not in one


def test_every_altered_byte_keeps_it_shut() -> None:
    sealed = seal("token", row=HERE)
    opened = 0
    for at in range(len(sealed) - 1):
        for changed in {"A", "b", "."} - {sealed[at]}:
            with pytest.raises(KeyringFault):
                opened += bool(unseal(sealed[:at] + changed + sealed[at + 1 :], row=HERE))
    assert opened == 0


def test_after_a_rotation_old_texts_open_until_their_key_is_gone(keyring) -> None:
    sealed = seal("token", row=HERE)
    keyring.KEYRING = f"{NEW},{OLD}"
    assert (unseal(sealed, row=HERE), is_current(sealed)) == ("token", False)
    anew = seal(unseal(sealed, row=HERE), row=HERE)
    keyring.KEYRING = NEW
    assert (unseal(anew, row=HERE), is_current(anew)) == ("token", True)
    with pytest.raises(KeyringFault, match="lacks the key"):
        unseal(sealed, row=HERE)


def test_another_key_under_the_same_id_opens_nothing(keyring) -> None:
    sealed = seal("token", row=HERE)
    keyring.KEYRING = f"{OLD.partition(':')[0]}:{NEW.partition(':')[2]}"
    with pytest.raises(KeyringFault):
        unseal(sealed, row=HERE)


@pytest.mark.parametrize(
    "text", ["", " , ", "k", "k:", "k:abc", f"K:{OLD.partition(':')[2]}", f"{OLD},{OLD}", "k:!!"]
)
def test_without_a_whole_keyring_nothing_is_sealed(keyring, text: str) -> None:
    keyring.KEYRING = text
    with pytest.raises(KeyringFault) as fault:
        seal("token", row=HERE)
    assert OLD.partition(":")[2] not in str(fault.value)


@given(st.text(max_size=200))
def test_any_text_comes_back_as_it_was(text: str) -> None:
    assert unseal(seal(text, row=HERE), row=HERE) == text


@pytest.mark.parametrize("sealed", ["", "v1", "v2.a.b.c", "v1.k.AA.AA.AA", "v1.K.AA.AA", "v1..AA.AA"])
def test_what_is_no_sealed_text_is_refused(sealed: str) -> None:
    with pytest.raises(KeyringFault):
        unseal(sealed, row=HERE)


def test_a_new_entry_is_a_keyring() -> None:
    assert len(read_keyring(new_entry()).keys) == 1
