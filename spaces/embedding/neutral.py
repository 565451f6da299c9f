"""Statements that a team might keep, in several languages, each with a question that it answers.

Of nobody in particular. The default model's mean vector is the mean over them, and every model's scale of
similarity is set by how near each question comes to its own statement and to the others.
"""

from datetime import date, timedelta
from itertools import cycle
from typing import NamedTuple


class Pair(NamedTuple):
    statement: str
    question: str


ENGLISH = (
    Pair("We deploy on Tuesdays and Thursdays, never after three in the afternoon.", "When may we release?"),
    Pair(
        "The staging database is restored from production every Sunday night.", "How fresh is staging data?"
    ),
    Pair("Harriet prefers tea to coffee and does not eat meat.", "What should we order for Harriet?"),
    Pair(
        "I finally booked the cabin by the lake for the last week of August!", "Where is the summer holiday?"
    ),
    Pair("Invoices above five thousand need a second signature.", "Who has to approve a large bill?"),
    Pair(
        "The printer on the second floor jams unless the paper is fanned first.", "Why does the printer stop?"
    ),
    Pair("Our sister's graduation is at noon, so let's leave by ten.", "What time do we set off?"),
    Pair(
        "Passwords for the old wiki were rotated after the laptop was stolen.",
        "What happened after the theft?",
    ),
    Pair("The mobile app crashes when the phone is switched to airplane mode.", "When does the app fail?"),
    Pair("Olu has been learning the cello for two years now.", "Which instrument does Olu play?"),
    Pair(
        "We chose the smaller vendor because support answers within an hour.", "Why was that supplier picked?"
    ),
    Pair(
        "The garden needs watering twice a week in a dry spring.", "How often should the plants be watered?"
    ),
    Pair("Ask legal before using a customer's logo on the website.", "May we show a client's brand?"),
    Pair("The night bus stops running at half past one.", "How late is public transport?"),
    Pair("Budget for the trade fair is twelve thousand, travel included.", "What may the exhibition cost?"),
    Pair("Yeah, that hike was tough, but the view from the top was worth it.", "Did they enjoy the walk?"),
    Pair("Logs are kept for thirty days and then deleted.", "How long do we store logs?"),
    Pair(
        "Ravi is allergic to peanuts; the bakery on the corner has safe cakes.",
        "Which foods must Ravi avoid?",
    ),
    Pair("The interview with the second candidate went better than expected.", "How did hiring go?"),
    Pair("Unit tests run on every push, the long ones only at night.", "When are slow tests executed?"),
    Pair("My brother sold his motorcycle to pay for the course.", "How was the training financed?"),
    Pair("The museum is closed on Mondays except in July.", "On which day can't we visit?"),
    Pair("Customers in Norway pay in kroner, everybody else in euros.", "Which currencies do we charge?"),
    Pair("She wants to open a small bookshop when she retires.", "What are her plans for later?"),
)

JAPANESE = (
    Pair("定例会議は毎週水曜日の午前十時から始まります。", "ミーティングは何曜日ですか。"),
    Pair("請求書は月末までに経理へ提出してください。", "インボイスの締め切りはいつ?"),
    Pair("田中さんは猫を二匹飼っていて、犬は苦手です。", "田中さんのペットは何ですか。"),
    Pair("本番サーバーの切り替えには約四十秒かかる。", "フェイルオーバーの所要時間は?"),
    Pair("昨日のハイキングは雨で中止になった。", "なぜ山に行かなかったの?"),
    Pair("新しい椅子は来週の金曜日に届く予定です。", "家具の配達日を教えてください。"),
    Pair("顧客データは暗号化して東京のデータセンターに保存する。", "お客様の情報はどこにありますか。"),
    Pair("妹はピアノの発表会に向けて毎日練習している。", "誰が楽器を習っていますか。"),
)

CHINESE = (
    Pair("部署窗口是每周二下午两点到四点。", "什么时候可以发布新版本?"),
    Pair("小李对海鲜过敏,聚餐时请避开。", "点菜要注意什么?"),
    Pair("我们决定把缓存换成另一种方案,因为旧的太慢。", "为什么要更换缓存?"),
    Pair("合同在三月底到期,需要提前一个月续签。", "协议什么时候结束?"),
    Pair("上周末全家去海边玩了两天。", "他们去哪里度假了?"),
    Pair("办公室的空调晚上八点自动关闭。", "几点以后会变热?"),
)

OTHERS = (
    Pair("La reunión con el cliente se aplazó hasta el lunes por la tarde.", "¿Cuándo vemos al cliente?"),
    Pair("Mi abuela prepara la mejor tortilla del barrio.", "¿Quién cocina bien?"),
    Pair("El servidor de correo se reinicia cada domingo a las cuatro.", "¿Cuándo no hay correo?"),
    Pair("Preferimos facturas en papel reciclado.", "¿Qué material usamos para las cuentas?"),
    Pair("Los niños aprendieron a nadar este verano.", "¿Qué saben hacer ahora los pequeños?"),
    Pair("Die Heizung wird erst im Oktober eingeschaltet.", "Ab wann ist es warm im Büro?"),
    Pair("Rückerstattungen dauern höchstens zehn Werktage.", "Wie lange wartet man auf sein Geld?"),
    Pair("Unser Nachbar repariert alte Radios in seiner Garage.", "Welches Hobby hat der Nachbar?"),
    Pair("Der Zugang zum Lager ist nur mit Karte möglich.", "Wie kommt man ins Lager?"),
    Pair("Le serveur de secours se trouve à Lyon.", "Où est la machine de remplacement ?"),
    Pair("Camille a changé d'avis : elle prendra le train de nuit.", "Comment voyage-t-elle ?"),
    Pair("Les congés doivent être demandés deux semaines à l'avance.", "Quel délai pour des vacances ?"),
    Pair("On a repeint la cuisine en jaune pâle.", "De quelle couleur est la pièce ?"),
    Pair("O relatório mensal é enviado no primeiro dia útil.", "Quando chega o resumo do mês?"),
    Pair("A minha prima mudou-se para perto da praia.", "Onde mora a família agora?"),
    Pair("As cópias de segurança são testadas a cada trimestre.", "Com que frequência verificamos o backup?"),
    Pair("신입 사원 교육은 매달 첫째 주에 진행됩니다.", "새 직원은 언제 배우나요?"),
    Pair("서버 점검 때문에 토요일 새벽에는 접속할 수 없습니다.", "언제 서비스를 쓸 수 없나요?"),
    Pair("민수는 주말마다 자전거를 타고 강변을 달린다.", "민수의 취미는 무엇인가요?"),
    Pair("Отчёт по безопасности готовит внешняя компания раз в год.", "Кто проверяет защиту?"),
    Pair("Дети посадили яблоню за домом.", "Что растёт в саду?"),
    Pair("Доступ подрядчиков закрывается в последний рабочий день.", "Когда отключают внешних сотрудников?"),
    Pair("يُغلق المكتب مبكراً يوم الخميس.", "متى ينتهي العمل؟"),
    Pair("تفضّل ليلى الرسائل القصيرة على المكالمات.", "كيف نتواصل مع ليلى؟"),
    Pair("ग्राहक सहायता सुबह नौ बजे शुरू होती है।", "हमें मदद कब मिल सकती है?"),
    Pair("मेरे पिता हर शाम पार्क में टहलते हैं।", "पिताजी रोज़ क्या करते हैं?"),
)

PAIRS = ENGLISH + JAPANESE + CHINESE + OTHERS

NAMES = ("Alex", "Kim", "Sofia", "ci-agent", "Yuki", "Mateo", "Priya", "")
FIRST_DAY = date(2023, 1, 1)


def passages() -> list[str]:
    """The statements in the form in which memories are embedded, each on another day and by one of a few names."""
    days = (FIRST_DAY + timedelta(days=37 * i % 1400) for i in range(len(PAIRS)))
    return [
        _said(pair.statement, day, name) for pair, day, name in zip(PAIRS, days, cycle(NAMES), strict=False)
    ]


def questions() -> list[str]:
    return [pair.question for pair in PAIRS]


def _said(statement: str, day: date, name: str) -> str:
    return f"[{day:%A} {day.day} {day:%B} {day.year}] {f'{name}: ' if name else ''}{statement}"
