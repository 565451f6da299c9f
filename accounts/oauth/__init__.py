"""How django-oauth-toolkit is fitted to this hub: what its settings name."""
