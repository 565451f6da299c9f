#!/usr/bin/env python
import os
import sys

OWNER_COMMANDS = {"migrate", "sqlmigrate"}


def main() -> None:
    """Run Django's command line. Only the commands that change the schema run as its owner."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
    if len(sys.argv) > 1 and sys.argv[1] in OWNER_COMMANDS:
        os.environ.setdefault("MEMORYHUB_DB_ROLE", "owner")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
