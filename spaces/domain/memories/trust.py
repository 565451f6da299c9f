from accounts.actor import Actor


def trust_of(actor: Actor) -> str:
    """How far what this credential writes is trusted. Never what the caller says of it."""
    return "person" if actor.is_person else "agent"
