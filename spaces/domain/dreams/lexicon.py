"""Words that say a number, a day or a no, in the languages that people here most often write."""

from spaces.domain.search.normalise import fold

_NUMBERS = """
    zero=0 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 eleven=11 twelve=12 thirteen=13
    fourteen=14 fifteen=15 sixteen=16 seventeen=17 eighteen=18 nineteen=19 twenty=20 thirty=30 forty=40 fifty=50
    sixty=60 seventy=70 eighty=80 ninety=90 hundred=100 thousand=1000 million=1000000 billion=1000000000
    dozen=12
    zwei=2 drei=3 vier=4 fünf=5 sechs=6 sieben=7 acht=8 neun=9 zehn=10 elf=11 zwölf=12 hundert=100 tausend=1000
    deux=2 trois=3 quatre=4 cinq=5 sept=7 huit=8 neuf=9 dix=10 onze=11 douze=12
    dos=2 tres=3 cuatro=4 cinco=5 siete=7 ocho=8 nueve=9 diez=10 doce=12 cien=100
    tre=3 quattro=4 cinque=5 sette=7 otto=8 nove=9 dieci=10 dois=2 três=3 quatro=4 sete=7 oito=8 dez=10
"""
_DAYS = """
    monday tuesday wednesday thursday friday saturday sunday weekday weekend
    january february april june july august september october november december
    today tomorrow yesterday tonight noon midnight
    montag dienstag mittwoch donnerstag freitag samstag sonntag heute morgen gestern
    januar februar märz april juni juli august oktober november dezember
    lundi mardi mercredi jeudi vendredi samedi dimanche demain
    janvier février mars avril juin juillet août septembre octobre novembre décembre
    lunes martes miércoles jueves viernes sábado domingo hoy mañana ayer
    enero febrero marzo abril junio julio agosto septiembre octubre noviembre diciembre
    lunedì martedì mercoledì giovedì venerdì sabato domenica oggi domani ieri
    gennaio febbraio aprile maggio giugno luglio settembre ottobre novembre dicembre
    segunda-feira terça-feira quarta-feira quinta-feira sexta-feira hoje amanhã ontem
    janeiro fevereiro março abril maio junho julho setembro outubro novembro dezembro
    月曜 火曜 水曜 木曜 金曜 土曜 日曜 今日 明日 昨日 周一 周二 周三 周四 周五 周六 周日 今天 明天 昨天
"""
_NOT = """
    not no never none nobody nothing neither nor cannot without
    isn't aren't wasn't weren't don't doesn't didn't won't wouldn't can't couldn't shouldn't mustn't hasn't haven't
    nicht kein keine keinen keinem keiner nie niemals ohne ne pas jamais aucun aucune sans nunca sin ni non mai senza
    não sem niet geen nooit zonder inte aldrig utan ikke aldri не нет никогда без
"""
_OPENERS = """
    user users team teams people person everyone everybody both also note notes currently everything members member
    agent agents project projects please usually always often
"""

NUMBERS = {fold(word): value for word, _, value in (pair.partition("=") for pair in _NUMBERS.split())}
DAYS = frozenset(fold(word) for word in _DAYS.split())
NEGATIONS = frozenset(fold(word) for word in _NOT.split())
UNSPACED_NEGATIONS = ("ない", "ません", "なし", "不", "没", "沒")
"""Parts of words, in scripts without spaces."""
OPENERS = frozenset(_OPENERS.split())
"""Words that a sentence may begin with although no source has them."""
