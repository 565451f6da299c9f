"""Telling people and other systems what happens to actions: by mail, in Slack and by webhooks. None can decide."""
