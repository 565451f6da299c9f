"""Words by which people say that something is worth keeping, by language code."""

import re

_LISTS = {
    "en": """
        remember|don't forget|do not forget|keep in mind|bear in mind|note that|for the record|from now on|going forward
        |always|never|i prefer|we prefer|i like|i dislike|i hate|i love|my favou?rite|we decided|we've decided|i decided
        |we agreed|let's use|we use|we'll use|i work (?:at|on|for|in)|i live in|i am allergic|i'm allergic|my name is
        |call me|decision|deadline is|is due
    """,
    "de": """
        merk(?:e)? dir|vergiss nicht|denk(?:e)? daran|beachte|ab jetzt|ab sofort|künftig|in zukunft|immer|nie|niemals
        |ich bevorzuge|wir bevorzugen|ich mag|am liebsten|wir haben (?:uns )?(?:beschlossen|entschieden|geeinigt)
        |wir nutzen
        |wir verwenden|ich arbeite (?:bei|an)|ich wohne in|ich heiße|entscheidung
    """,
    "fr": """
        souviens-toi|rappelle-toi|retiens|n'oublie pas|note que|désormais|dorénavant|à partir de maintenant|toujours
        |jamais|je préfère|nous préférons|j'aime|je déteste|nous avons décidé|on a décidé|on utilise|je travaille
        |j'habite|je m'appelle|décision
    """,
    "es": """
        recuerda|no olvides|ten en cuenta|anota que|a partir de ahora|de ahora en adelante|siempre|nunca|prefiero
        |preferimos|me gusta|odio|hemos decidido|decidimos|usamos|trabajo en|vivo en|me llamo|decisión
    """,
    "pt": """
        lembre|lembra-te|não esqueça|não te esqueças|tenha em mente|anote que|a partir de agora|sempre|nunca|prefiro
        |gosto de|decidimos|usamos|trabalho em|moro em|meu nome é|decisão
    """,
    "it": """
        ricorda|non dimenticare|tieni presente|nota che|d'ora in poi|sempre|mai|preferisco|mi piace|abbiamo deciso
        |usiamo|lavoro (?:a|in|per)|vivo a|mi chiamo|decisione
    """,
    "nl": "onthoud|vergeet niet|vanaf nu|voortaan|altijd|nooit|ik heb liever|ik woon in|we hebben besloten|besluit",
    "ja": """
        覚えて|忘れないで|メモして|記録して|今後は|これからは|いつも|必ず|絶対に|常に|好き|嫌い|苦手|のほうがいい|の方がいい|希望します
        |決めた|決めました|決まり|決定|に決|ことにし|使うことに|住んでい|働いてい|と呼んで|アレルギー|締め切り|締切
    """,
    "zh": """
        记住|記住|记得|記得|别忘|別忘|请注意|請注意|以后|以後|今后|今後|从现在起|從現在起|总是|總是|一直|永远|永遠|从不|從不|务必|務必
        |我喜欢|我喜歡|我不喜欢|我不喜歡|我讨厌|我討厭|我更喜欢|我更喜歡|偏好|我们决定|我們決定|决定|決定|我们使用|我們使用|我住在|我在.{1,8}工作|我叫|过敏|過敏
        |截止
    """,
    "ko": "기억해|잊지 ?마|앞으로|항상|절대|선호|좋아해|싫어해|결정했|정했|하기로|살고 있|일하고 있|마감",
    "ru": """
        запомни|не забудь|имей в виду|отныне|впредь|всегда|никогда|предпочитаю|мы решили|мы используем|живу в
        |работаю в|меня зовут|решение
    """,
}
SPACED = ("en", "de", "fr", "es", "pt", "it", "nl", "ru")


def _pattern(words: str) -> str:
    return re.sub(r"\s*\n\s*", "", words.strip())


TRIGGERS = re.compile(
    "|".join(
        rf"\b(?:{_pattern(words)})\b" if language in SPACED else f"(?:{_pattern(words)})"
        for language, words in _LISTS.items()
    ),
    re.I,
)


def trigger_in(text: str) -> str:
    """The first word or phrase that says so; "" if none does. Typographic apostrophes are as good as plain ones."""
    match = TRIGGERS.search(text.replace("’", "'"))
    return match[0].lower() if match else ""
