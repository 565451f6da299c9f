"""Each scope as people are told of it when they let a client in."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.scopes import Scope

SCOPE_WORDS: dict[Scope, str | Promise] = {
    Scope.MEMORY_READ: _("Read and search memories"),
    Scope.SPACE_READ: _("Read the journal, records and values"),
    Scope.PLANS_READ: _("Read plans"),
    Scope.LEDGER_READ: _("Read the ledger and reminders"),
    Scope.DECISIONS_READ: _("Read decisions and summaries of sessions"),
    Scope.MCP_READ: _("Look things up for the tools about decisions"),
    Scope.EVENTS_READ: _("See what happens: who changed what, and when"),
    Scope.MEMORY_WRITE: _("Remember things, and change memories"),
    Scope.SPACE_WRITE: _("Write the journal, records and values"),
    Scope.PLANS_WRITE: _("Write plans"),
    Scope.LEDGER_WRITE: _("Write the ledger and reminders"),
    Scope.DECISIONS_WRITE: _("Record decisions and summaries of sessions"),
    Scope.MCP_WRITE: _("Write with the tools about decisions"),
    Scope.ACTIONS_PROPOSE: _("Propose actions, which wait for a person to approve them"),
    Scope.ACTIONS_EXECUTE: _("Carry out actions that a person has approved"),
    Scope.DREAM_RUN: _("Tidy memories, which can be undone for 7 days"),
    Scope.MEMORY_DELETE: _("Forget things for good"),
    Scope.EXPORT_READ: _("Take a copy of everything in the space"),
    Scope.SPACE_ADMIN: _("Change the settings of the space"),
}
"""In the order in which they are shown: reading, writing, and then what a person should think about."""

GRAVE = frozenset({Scope.MEMORY_DELETE, Scope.EXPORT_READ, Scope.SPACE_ADMIN})
