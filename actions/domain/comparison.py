"""What an action is compared with before a person decides: its earlier revision, and the last one like it."""

from actions.models import Action, ActionRevision, Status

AGREED = (Status.APPROVED, Status.EXECUTING, Status.DONE)


def earlier_revision(action: Action, shown: str = "") -> ActionRevision | None:
    """The revision that had the digest `shown`, if that is an earlier one; else the one before the current."""
    earlier = ActionRevision.objects.filter(
        account_id=action.account_id, action_id=action.id, number__lt=action.revision
    )
    return earlier.filter(digest=shown).first() or earlier.order_by("-number").first()


def last_like(action: Action) -> Action | None:
    """The newest action before it of the same class, by the same proposer, that people agreed to."""
    like = Action.objects.inside(action.space).filter(
        class_name=action.class_name, proposer=action.proposer, status__in=AGREED, number__lt=action.number
    )
    return like.with_current().order_by("-number").first()
