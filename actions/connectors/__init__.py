"""The classes that our own worker carries out; every other class is carried out by the agent."""

from actions.connectors.base import Call, Connector
from actions.connectors.calendar import CALENDAR_CREATE
from actions.connectors.github import GITHUB_CREATE_ISSUE
from actions.connectors.gmail import GMAIL_REPLY
from actions.connectors.notion import NOTION_CREATE_PAGE
from actions.connectors.slack import SLACK_SEND

CONNECTORS = {
    connector.class_name: connector
    for connector in (SLACK_SEND, GMAIL_REPLY, CALENDAR_CREATE, GITHUB_CREATE_ISSUE, NOTION_CREATE_PAGE)
}

__all__ = ["CONNECTORS", "Call", "Connector"]
