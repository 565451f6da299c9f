"""Write-backs: each proposes an action, which a person decides on."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from accounts.actor import Actor
from accounts.scopes import Scope
from actions.domain.describe import page_url
from actions.domain.proposals import Proposal
from actions.domain.write_back import propose_write_back
from memoryhub.operations.base import Effect, operation
from memoryhub.operations.zerodb.answers import Answer, Arguments, beside
from spaces.domain.auto_context import accompanied

Name = Annotated[str, Field(min_length=1, max_length=500)]
Body = Annotated[str, Field(max_length=30_000)]


class SlackInput(Arguments):
    channel: Name = Field(description="Slack channel name or ID.")
    message: Annotated[Body, Field(min_length=1)]


class GmailInput(Arguments):
    thread_id: Name = Field(description="Gmail thread ID.")
    body: Annotated[Body, Field(min_length=1)]


class CalendarInput(Arguments):
    title: Name
    start: Name = Field(description="ISO 8601; without an offset, in the space's time zone.")
    end: Name = Field(description="ISO 8601.")


class GithubInput(Arguments):
    repo: Name = Field(description="owner/name.")
    title: Name
    body: Body = ""


class NotionInput(Arguments):
    parent_id: Name = Field(description="Parent page or database ID.")
    title: Name
    content: Body = Field(default="", description="In Markdown.")


class Proposed(Answer):
    success: bool = True
    status: str
    action_id: str
    approve_url: str


write_back = partial(
    operation,
    "zerodb",
    scopes=[Scope.ACTIONS_PROPOSE],
    effect=Effect.ADD,
    open_world=True,
    asks_first=True,
)


@write_back(title="Send a Slack message")
def zerodb_slack_send(actor: Actor, args: SlackInput) -> Proposed:
    """Propose to send a Slack message to a channel. A person decides at approve_url; until then nothing is sent."""
    summary = f"Send a Slack message to {args.channel}"
    return proposed(actor, "slack.send", summary, args, about=args.message)


@write_back(title="Reply by Gmail")
def zerodb_gmail_reply(actor: Actor, args: GmailInput) -> Proposed:
    """Propose to reply to a Gmail thread. A person decides at approve_url; until then nothing is sent."""
    return proposed(actor, "gmail.reply", "Reply to a Gmail thread", args, about=args.body)


@write_back(title="Create a calendar event")
def zerodb_calendar_create(actor: Actor, args: CalendarInput) -> Proposed:
    """Propose a calendar event. A person decides at approve_url; until then nothing is created."""
    return proposed(actor, "calendar.create", f"Create the event {args.title}", args, about=args.title)


@write_back(title="Create a GitHub issue")
def zerodb_github_create_issue(actor: Actor, args: GithubInput) -> Proposed:
    """Propose a GitHub issue. A person decides at approve_url; until then nothing is created."""
    summary = f"Create an issue in {args.repo}: {args.title}"
    return proposed(actor, "github.create_issue", summary, args, about=args.title)


@write_back(title="Create a Notion page")
def zerodb_notion_create_page(actor: Actor, args: NotionInput) -> Proposed:
    """Propose a Notion page. A person decides at approve_url; until then nothing is created."""
    return proposed(actor, "notion.create_page", f"Create the page {args.title}", args, about=args.title)


def proposed(actor: Actor, class_name: str, summary: str, args: Arguments, *, about: str) -> Proposed:
    payload: Mapping[str, Any] = args.model_dump(exclude_unset=True)
    tool = f"zerodb_{class_name.replace('.', '_')}"
    done, context = accompanied(
        actor, tool, about, lambda: propose_write_back(actor, class_name, summary, dict(payload))
    )
    return Proposed(**told(done), beside=beside(context))


def told(done: Proposal) -> dict[str, Any]:
    action = done.action
    return {
        "status": "pending_approval" if action.status == "pending" else action.status,
        "action_id": action.short_id,
        "approve_url": page_url(action),
        "warnings": done.warnings,
    }
