from accounts.actor import Actor


def trust_of(actor: Actor, *, captured: bool = False) -> str:
    """How far what this credential writes is trusted, by the way it comes. Never what the caller says of it."""
    if captured:
        return "reviewed" if actor.is_person else "external"
    return "person" if actor.is_person else "agent"
