"""Django's PostgreSQL backend, whose pooled sessions are looked at before they are used."""
