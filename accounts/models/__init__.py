from accounts.models.accounts import Account, Invitation, Membership
from accounts.models.checkpoints import Checkpoint
from accounts.models.events import Event
from accounts.models.grants import Grant
from accounts.models.jobs import Job
from accounts.models.keys import AgentKey
from accounts.models.oauth import Application
from accounts.models.tenant import Tenant
from accounts.models.users import User

__all__ = [
    "Account",
    "AgentKey",
    "Application",
    "Checkpoint",
    "Event",
    "Grant",
    "Invitation",
    "Job",
    "Membership",
    "Tenant",
    "User",
]
