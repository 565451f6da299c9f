from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from spaces.domain.search.rebuilding import rebuild_all_search_fields


class Command(BaseCommand):
    help = "Makes anew what memories are found by, where it is of an older version of the tokenizer."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--everything", action="store_true", help="of all memories, whatever the version")

    def handle(self, *args: Any, **options: Any) -> None:
        count = rebuild_all_search_fields(everything=options["everything"])
        self.stdout.write(f"{count} memories rebuilt")
