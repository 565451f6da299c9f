from actions.models.actions import Action, ActionRevision, Approval

__all__ = ["Action", "ActionRevision", "Approval"]
