"""An action as its page and its row show it."""

from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.actor import Actor
from accounts.scopes import Role
from actions.connectors import CONNECTORS
from actions.domain.actions import list_attempts
from actions.domain.comparison import earlier_revision, last_like
from actions.domain.consent import standing_approvals
from actions.domain.facts import reach_of, warnings_in
from actions.domain.history import Line as History
from actions.domain.policies.applying import verdict_on
from actions.domain.policies.deciding import (
    CONDITIONS,
    MATCHED,
    NOT_REACHED,
    OTHER_CLASS,
    OVER,
    PART,
    Verdict,
)
from actions.domain.preview import Row as PreviewRow
from actions.domain.review import Review
from actions.domain.risk import FIRST_TIME, IRREVERSIBLE, OUTSIDE, risks_of
from actions.domain.risk import OVER as OVER_LIMIT
from actions.domain.sources import Now, Source, sources_of, things_now
from actions.models import Action, Attempt, Connection, Status
from actions.views.facts import Line, lines, warning_words
from actions.views.headline import Headline, headline, telling
from memoryhub.web.forms import pretty_json
from memoryhub.web.tags import status_tone

SOON = timedelta(hours=2)
ICONS = {
    "proposed": "plus", "revised": "edit", "approved": "check", "rejected": "x", "executing": "agent",
    "seconded": "check", "snoozed": "clock", "woken": "clock", "settled": "person", "done": "check", "failed": "alert",
    "cancelled": "x", "expired": "clock", "stale": "clock",
}  # fmt: skip


@dataclass(frozen=True)
class Compared:
    name: str
    text: str


class Row:
    """What a list needs. Everything in it comes with one query for any number of rows."""

    def __init__(self, action: Action, domains: frozenset[str] = frozenset()) -> None:
        self.action = action
        self.domains = domains
        self.now = timezone.now()
        self.revision = action.current
        self.status = action.status_at(self.now)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.action, name)

    @property
    def status_label(self) -> str:
        return status_label(self.status)

    @property
    def tone(self) -> str:
        return status_tone(self.status)

    @property
    def headline(self) -> Headline:
        return headline(self.action.class_name, self.revision.payload)

    @property
    def summary(self) -> str:
        return self.revision.summary

    @property
    def digest(self) -> str:
        """As it is kept; what it is now is worked out when it is decided on."""
        return self.revision.digest

    @property
    def who(self) -> str:
        """The name of the credential; what the agent calls itself is only attribution."""
        return self.action.proposer_name or self.action.agent

    @property
    def version(self) -> str:
        return f"{self.status}.{self.action.revision}.{self.action.updated_at.timestamp()}"

    @property
    def expires_soon(self) -> bool:
        return self.status == Status.PENDING and self.action.expires_at - self.now < SOON

    @property
    def stale(self) -> bool:
        return self.action.is_stale(self.now)

    @property
    def warning(self) -> str:
        """The one that matters most, if any."""
        return next((warning_words()[matter] for matter in warnings_in(self.action, self.domains)), "")

    @property
    def url(self) -> str:
        return reverse("action", args=self._place)

    @property
    def approve_url(self) -> str:
        return reverse("action-approve", args=self._place)

    @property
    def reject_url(self) -> str:
        return reverse("action-reject", args=self._place)

    @property
    def end_url(self) -> str:
        return reverse("action-end", args=self._place)

    @property
    def edit_url(self) -> str:
        return reverse("action-edit", args=self._place)

    @property
    def snooze_url(self) -> str:
        return reverse("action-snooze", args=self._place)

    @property
    def settle_url(self) -> str:
        return reverse("action-settle", args=self._place)

    @property
    def _place(self) -> list[str]:
        return [self.action.account.slug, self.action.space.slug, self.action.short_id]


class Shown(Row):
    """What the page needs besides: everything that a person has to see before they decide."""

    def __init__(self, actor: Actor, review: Review, *, was_shown: str = "") -> None:
        super().__init__(review.action)
        self.actor = actor
        self.review = review
        self.was_shown = was_shown

    @property
    def may_decide(self) -> bool:
        return self.review.intact and Status.APPROVED in self.review.moves

    @property
    def lacks_connection(self) -> bool:
        """Nobody can approve it before the service is connected."""
        connection = self.connection
        missing = connection is None or connection.revoked_at is not None or connection.broken
        return self.status == Status.PENDING and self.action.executor == "worker" and missing

    @property
    def may_withdraw(self) -> bool:
        return Status.CANCELLED in self.review.moves and not self.may_decide and not self.may_take_back

    @property
    def may_settle(self) -> bool:
        return self.review.stale and not self.action.doubt and Status.FAILED in self.review.moves

    @property
    def may_take_back(self) -> bool:
        """Between the approval and the sending."""
        return self.status == Status.APPROVED and Status.CANCELLED in self.review.moves

    @property
    def may_say(self) -> bool:
        """Of what nobody knows whether it was sent."""
        return (
            self.status == Status.EXECUTING and bool(self.action.doubt) and Status.FAILED in self.review.moves
        )

    @property
    def connection(self) -> Connection | None:
        return self.revision.connection

    @property
    def sent(self) -> str:
        """The request exactly as it goes out, marker included; "" where we send nothing, or can't say yet."""
        connector = CONNECTORS.get(self.action.class_name)
        if (
            connector is None
            or self.action.executor != "worker"
            or connector.unresolved(self.revision.payload)
        ):
            return ""
        call = connector.call(self.revision.payload, self.action.uid)
        return f"{call.method} {call.path}\n{pretty_json(call.body)}"

    @property
    def attempts(self) -> list[Attempt]:
        return list_attempts(self.action)

    @cached_property
    def verdict(self) -> Verdict:
        return verdict_on(self.action)

    @cached_property
    def risks(self) -> list[str]:
        words = {
            IRREVERSIBLE: _("it can’t be taken back"), OUTSIDE: _("it reaches people outside your team"),
            FIRST_TIME: _("it reaches somebody for the first time"), OVER_LIMIT: _("a rule’s limit is reached"),
        }  # fmt: skip
        return [words[risk] for risk in risks_of(self.action, self.verdict)]

    @property
    def trace(self) -> list[dict[str, str]]:
        """The rules of the space, in their order, and what came of each for this action."""
        words = {
            MATCHED: _("decides"), PART: _("asks because of a part of it"),
            OVER: _("matches, but its limit is reached: it asks a person"),
            OTHER_CLASS: _("is for another class"), CONDITIONS: _("its conditions don’t hold"),
            NOT_REACHED: _("not looked at any more"),
        }  # fmt: skip
        return [
            {"name": step.rule.name, "outcome": words[step.outcome], "current": step.outcome}
            for step in self.verdict.trace
        ]

    @property
    def agreed(self) -> list[str]:
        """Who has agreed so far, where that is not enough yet."""
        return [a.user.get_short_name() for a in standing_approvals(self.action)]

    @property
    def may_rule(self) -> bool:
        return self.actor.role == Role.OWNER and self.status == Status.PENDING

    @property
    def rule_url(self) -> str:
        place = [self.action.account.slug, self.action.space.slug]
        return f"{reverse('policy-new', args=place)}?like={self.action.short_id}"

    @property
    def why_not(self) -> str:
        if self.status != Status.PENDING:
            return ""
        if not self.review.intact:
            return _("It can’t be approved: what is stored is not what was proposed.")
        if self.actor.key == self.action.proposer:
            return _("You proposed this yourself, so somebody else has to decide.")
        return _("Deciding needs the role owner or approver in this space.")

    @property
    def values(self) -> list[PreviewRow]:
        """Every value of the payload; those that tell most come first."""
        return sorted(self.review.preview.rows, key=lambda row: telling(row.name))

    @property
    def facts(self) -> list[Line]:
        untrusted = [source.id for source in self.sources if source.is_untrusted]
        return lines(self.review.preview, reach_of(self.action), untrusted)

    @cached_property
    def sources(self) -> list[Source]:
        return sources_of(self.actor, self.action)

    @property
    def things_now(self) -> list[Now]:
        return things_now(self.action)

    @property
    def pretty(self) -> str:
        return pretty_json(self.revision.payload)

    @property
    def editable(self) -> str:
        """Without what is looked up anew after an edit."""
        looked_up = ("channel_name",) if self.action.class_name in CONNECTORS else ()
        return pretty_json({n: v for n, v in self.revision.payload.items() if n not in looked_up})

    @property
    def is_snoozed(self) -> bool:
        until = self.action.snoozed_until
        return self.status == Status.PENDING and until is not None and until > self.now

    @property
    def earlier(self) -> Compared | None:
        revision = earlier_revision(self.action, self.was_shown)
        return Compared(str(revision.number), pretty_json(revision.payload)) if revision else None

    @property
    def similar(self) -> Compared | None:
        like = last_like(self.action)
        return Compared(like.short_id, pretty_json(like.current.payload)) if like else None

    @property
    def history(self) -> list[dict[str, Any]]:
        return [
            {
                "line": line,
                "text": _sentence(line),
                "icon": ICONS.get(line.kind, "info"),
                "tone": status_tone(line.kind),
            }
            for line in self.review.history
        ]


def status_label(status: str) -> str:
    labels = {
        "pending": _("Needs a decision"), "approved": _("Approved"), "rejected": _("Rejected"),
        "executing": _("Being carried out"), "done": _("Done"), "failed": _("Failed"),
        "expired": _("Expired"), "cancelled": _("Withdrawn"),
    }  # fmt: skip
    return labels.get(status, status)


def _sentence(line: History) -> str:
    sentences = {
        "proposed": _("Proposed by %(who)s"), "revised": _("Revised by %(who)s"),
        "approved": _("Approved by %(who)s"), "rejected": _("Rejected by %(who)s"),
        "executing": _("Taken up by %(who)s"), "done": _("Reported as done by %(who)s"),
        "seconded": _("%(who)s agrees; more people have to"),
        "snoozed": _("Put off by %(who)s"), "woken": _("Taken up again by %(who)s"),
        "settled": _("What became of it was settled by %(who)s"),
        "failed": _("Reported as failed by %(who)s"), "cancelled": _("Withdrawn by %(who)s"),
        "expired": _("Expired: nobody was in time"), "stale": _("Nothing was heard of it for an hour"),
    }  # fmt: skip
    return sentences.get(line.kind, f"{line.kind}: %(who)s") % {"who": line.who}
