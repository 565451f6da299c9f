"""What counts as said by the sources, and what comes from nowhere."""

import pytest

from spaces.domain.dreams.grounding import ungrounded

GROUNDED = [
    (
        "The deploy window is Tuesday 14:00 UTC",
        ["Deploys happen on Tuesday at 14:00 UTC", "There is a deploy window"],
    ),
    (
        "Deployments happen on Tuesdays at 14:00",
        ["We deploy on Tuesday at 14:00", "what happens on Tuesdays at 14:00"],
    ),
    ("Ana Silva and Rui lead billing", ["Ana Silva leads billing", "Rui leads billing"]),
    ("Users want dark mode", ["The client wants dark mode"]),
    ("Budget: 1000 EUR", ["The budget is 1,000 EUR"]),
    ("Backups are kept 30 days", ["Backups are kept for thirty days"]),
    ("Never deploy on Friday", ["Don't deploy on Friday", "Deploys never happen on a Friday"]),
    (
        "Fix src/billing/invoice.py, see BENCH-100821",
        ["src/billing/invoice.py is broken: BENCH-100821", "a fix is due"],
    ),
    ("部署窗口是周二下午", ["部署窗口是周二下午", "周二下午部署"]),
    ("会議は火曜日の午後", ["会議は火曜日", "火曜日の午後に会議"]),
    ("Le déploiement a lieu mardi", ["Le déploiement a lieu chaque mardi"]),
]
INVENTED = [
    ("Ana Costa leads billing", ["Ana Silva leads billing", "Rui Costa leads support"]),
    ("Martin leads billing", ["Martina leads billing"]),
    ("Martina and Bob lead billing", ["Martina leads billing"]),
    ("The budget is 10,000 EUR", ["The budget is 1,000 EUR"]),
    ("The budget is 100 EUR", ["The budget is 1,000 EUR"]),
    ("The budget is ten EUR", ["The budget is 1,000 EUR"]),
    ("Version 1.2.11 is out", ["Version 1.2.10 is out"]),
    ("Deploy on 2026-08-09", ["Deploy on 2026-08-08"]),
    ("Deploy on friday", ["Deploy on Tuesday"]),
    ("The deploy is tomorrow", ["The deploy is on Tuesday"]),
    ("Deploy on Friday", ["Never deploy on Friday"]),
    ("Never deploy on Friday", ["Deploy on Friday"]),
    ("Ask bob@example.com about the vault", ["Ask ann@example.com about the vault"]),
    ("See https://evil.example/a for the vault", ["See https://good.example/a for the vault"]),
    ("Use getUserByName for the vault", ["Use getUserById for the vault"]),
    ("The US office keeps the vault", ["Tell us where the office keeps the vault"]),
    ("部署窗口是周三下午", ["部署窗口是周二下午"]),
    ("田中さんの会議は火曜日", ["会議は火曜日"]),
    ("会議はズームで火曜日", ["会議は火曜日"]),
    ("٣ deploys happen on Tuesday", ["Deploys happen on Tuesday"]),
    ("", ["Deploys happen on Tuesday"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sources"), GROUNDED)
def test_it_is_in_its_sources(text: str, sources: list[str]) -> None:
    assert ungrounded(text, sources) is None


@pytest.mark.parametrize(("text", "sources"), INVENTED)
def test_it_comes_from_nowhere(text: str, sources: list[str]) -> None:
    assert ungrounded(text, sources)


@pytest.mark.parametrize(("text", "sources"), GROUNDED)
def test_what_is_told_repeats_no_word(text: str, sources: list[str]) -> None:
    assert "Zurich" not in (ungrounded(f"{text} in Zurich", sources) or "Zurich")
