"""Telling people and other systems what happens to actions: by mail and by webhooks. Neither can decide anything."""
