"""Each vector of words holds its memory's space as a lexeme, so that words are looked for and counted in some spaces
alone: what `index_fields` adds to whatever is written from now on."""

from django.db import migrations
from django.db.migrations.operations import RunSQL

WHOLE_ACCOUNT = "00000000-0000-0000-0000-000000000000"
PLACE = f"array['@' || replace(coalesce(space_id, '{WHOLE_ACCOUNT}')::text, '-', '')]"


class Migration(migrations.Migration):
    dependencies = [("spaces", "0012_transfers")]

    operations = [
        RunSQL(
            f"UPDATE spaces_memory SET search_vector = search_vector || array_to_tsvector({PLACE})"
            " WHERE search_vector IS NOT NULL",
            RunSQL.noop,
        )
    ]
