import pytest

from memoryhub.bench import report
from memoryhub.bench.table import Row, drawn

BOUND = Row("bound", 100, "us", 1.0)


def test_a_row_is_held_to_the_limit_it_names() -> None:
    assert not Row("a", 130, "us", 1.3, at_most=1.4).missed
    assert Row("a", 150, "us", 1.5, at_most=1.4).missed
    assert not Row("a", 160, "/s", 0.3, at_least=150).missed
    assert Row("a", 140, "/s", 0.3, at_least=150).missed
    assert not BOUND.missed


def test_the_table_lines_up_what_was_measured_with_its_limit() -> None:
    table = drawn(
        [BOUND, Row("over MCP", 131.4, "us", 1.314, at_most=1.4), Row("b", 9, "/s", 0.1, at_least=150)]
    )
    assert table.splitlines() == [
        "          measured  ratio   limit",
        "bound     100 us    1.00 x",
        "over MCP  131 us    1.31 x  <= 1.40 x  kept",
        "b         9 /s      0.10 x  >= 150 /s  missed",
    ]


def test_a_missed_limit_is_told_by_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    for row, code in ((BOUND, 0), (Row("a", 150, "us", 1.5, at_most=1.4), 1)):
        with pytest.raises(SystemExit) as caught:
            report([row])
        assert int(caught.value.code or 0) == code
    assert "missed" in capsys.readouterr().out
