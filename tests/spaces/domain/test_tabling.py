import csv
import io
from typing import Any

import pytest

from memoryhub.common.errors import ValidationFailed
from spaces.domain.records import Changes, put_record
from spaces.domain.tabling import harmless, stream_csv
from tests.conftest import Cast
from tests.pages import SPACE, browser_of

pytestmark = pytest.mark.usefixtures("inside")
HOSTILE = ["=1+1", "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "|calc", " =cmd|' /C calc'!A0", "＝1"]


def table(cast: Cast, collection: str = "tasks") -> list[dict[str, str]]:
    content = b"".join(stream_csv(cast.viewer, cast.space, collection)).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(content, newline="")))


def test_each_record_is_a_line_and_each_field_a_column(cast: Cast) -> None:
    put_record(cast.agent, "tasks", Changes(data={"who": "Ana, Bo", "n": -5}, due_at="2026-08-08"), key="a")
    put_record(cast.agent, "tasks", Changes(data={"deep": {"x": ["周报"]}, "line": "one\ntwo"}), key="b")
    put_record(cast.agent, "others", Changes(data={"hidden": 1}))
    first, second = table(cast)
    assert (first["key"], first["due_at"], first["who"], first["n"]) == ("a", "2026-08-08", "Ana, Bo", "-5")
    assert (second["deep"], second["line"], second["who"]) == ('{"x": ["周报"]}', "one\ntwo", "")
    assert "hidden" not in first


@pytest.mark.parametrize("text", HOSTILE)
def test_no_cell_is_one_that_a_spreadsheet_runs(cast: Cast, text: str) -> None:
    put_record(cast.agent, "tasks", Changes(data={"note": text, text: 1}), key=text.strip())
    [row] = table(cast)
    assert row["note"] == f"'{text}"
    assert f"'{text}" in row
    assert row["key"].startswith("'") or row["key"][0] not in "=+-@|"


@pytest.mark.parametrize(("value", "cell"), [(None, ""), (True, "true"), (-1.5, "-1.5"), ("plain", "plain")])
def test_what_is_harmless_stays_as_it_is(value: Any, cell: str) -> None:
    assert harmless(value) == cell


def test_a_collection_has_a_name_of_collections(cast: Cast) -> None:
    with pytest.raises(ValidationFailed):
        stream_csv(cast.viewer, cast.space, 'x"\r\nevil')
    assert browser_of(cast.viewer).get(f"{SPACE}/records/csv/x%22y/").status_code == 422


def test_it_is_a_file_to_download(cast: Cast) -> None:
    answer = browser_of(cast.viewer).get(f"{SPACE}/records/csv/tasks/")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"] == 'attachment; filename="tasks.csv"'
