"""Of what is not held as it is written (journal, records, values, reminders, proposals): what speaks to agents is not
put before one that hasn't asked for it by name."""

from memoryhub.common.screening import reasons_to_hold

PERSON = "person:"


def speaks(told: object, written_by: str) -> bool:
    """Whether what an agent wrote gives orders to its reader. What a person wrote in a browser is not screened."""
    return not written_by.startswith(PERSON) and bool(reasons_to_hold(told))
