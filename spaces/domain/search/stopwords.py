"""Words that carry grammar rather than meaning, by language code.

They are indexed like any other word and left out of a query as long as it says something else.
Accents may stay, they are folded on loading.
"""

from spaces.domain.search.normalise import fold

_LISTS = {
    "en": """
        a an the this that these those i me my mine myself we us our ours ourselves you your yours
        yourself yourselves he him his himself she her hers herself it its itself they them their theirs
        themselves who whom whose which what when where why how am is are was were be been being do does
        did doing done have has had having can could shall should will would might must ought and or but
        nor so if then else than because as while until although though whether of at by for with without
        about against between into through during before after above below to from up down in out on off
        over under again further once here there all any both each few more most other some such no not
        only own same too very just also dont don't doesnt doesn't didnt didn't isnt isn't arent aren't
        wasnt wasn't werent weren't wont won't wouldnt wouldn't cant can't couldnt couldn't shouldnt
        shouldn't hasnt hasn't havent haven't hadn't mustn't i'm i've i'd i'll you're you've you'd you'll
        he'd he'll she'd she'll they're they've they'd they'll we're we've we'd we'll it'd it'll that'll
        who'd who'll please
    """,
    "de": """
        der die das den dem des ein eine einen einem einer eines kein keine keinen und oder aber denn
        sondern weil dass daß ob wenn als wie wo wer was wann warum wieso welche welcher welches wen wem
        ich du er sie es wir ihr mich dich sich uns euch mir dir ihm ihn ihnen mein dein sein unser euer
        ihre seine meine bin bist ist sind seid war waren wird werden wurde wurden worden habe hat haben
        hatte hatten kann können könnte muss müssen soll sollen will wollen darf nicht nur auch noch schon
        sehr so zu zum zur in im ins an am auf aus bei beim mit nach von vom vor für über unter um durch
        gegen ohne bis seit zwischen hier da dort dann diese dieser dieses diesen diesem jede jeder jedes
        alle man doch ja nein mal
    """,
    "fr": """
        le la les l un une des du de d au aux ce cet cette ces mon ma mes ton ta tes son sa ses notre nos
        votre vos leur leurs je j tu il elle on nous vous ils elles me m te t se s lui eux y en que qu qui
        quoi dont où quand comment pourquoi combien quel quelle quels quelles et ou mais donc or ni car si
        comme ne n pas plus moins très aussi à dans par pour sur sous avec sans chez vers entre depuis
        pendant avant après est es sont suis sommes êtes être été était étaient a ai as avons avez ont
        avoir eu avait avaient sera fait faire peut c cela ça ceci tout tous toute toutes même
    """,
    "es": """
        el la los las un una unos unas lo al del de y e o u pero sino ni que quien quienes cual cuales
        cuando donde como cuanto por qué porque para con sin sobre entre hasta desde en a ante bajo contra
        según tras yo tú él ella ello nosotros vosotros ellos ellas usted ustedes me te se nos os le les
        mi mis tu tus su sus nuestro nuestra este esta esto estos estas ese esa eso esos esas aquel
        aquella es son soy eres somos era eran fue fueron ser estar está están estaba ha han he hay haber
        había no sí más menos muy ya también tan todo toda todos todas
    """,
    "it": """
        il lo la i gli le l un uno una di a da in con su per tra fra del dello della dei degli delle al
        allo alla ai agli alle dal dalla dai nel nella nei nelle sul sulla e ed o ma se che chi cui quale
        quali quando dove come perché quanto io tu lui lei noi voi loro mi ti si ci vi ne mio mia tuo tua
        suo sua nostro vostro questo questa questi queste quello quella quelli quelle è sono sei siamo
        siete era erano essere stato ha ho hai abbiamo avete hanno avere aveva non più meno molto anche
        già c tutto tutti
    """,
    "pt": """
        o a os as um uma uns umas de do da dos das em no na nos nas por pelo pela para com sem sobre entre
        até desde ao à aos às e ou mas nem que quem qual quais quando onde como porque quanto eu tu ele
        ela nós vós eles elles elas você vocês me te se lhe lhes meu minha teu tua seu sua nosso nossa
        este esta isto esse essa isso aquele aquela é são sou somos era eram foi foram ser estar está
        estão há tem têm ter tinha não sim mais menos muito já também todo toda todos todas
    """,
    "nl": """
        de het een en of maar want dus als dan dat die dit deze wie wat waar wanneer waarom hoe welke ik
        je jij u hij zij ze het we wij jullie me mij jou hem haar ons hun mijn jouw zijn onze is ben bent
        was waren wordt worden werd heb hebt heeft hebben had hadden kan kunnen moet moeten zal zullen
        niet geen wel ook nog al zo te in op aan uit bij met van voor naar om over onder door tegen zonder
        tot tussen er hier daar
    """,
    "sv": """
        och det att i en ett jag hon han som på den med var sig för så till är men om hade de av icke mig
        du då sin nu har inte hans honom skulle hennes där min man ej vid kunde något från ut när efter
        upp vi dem vara vad över än dig kan sina här ha mot alla under någon eller allt mycket sedan denna
        detta vem hur varför
    """,
    "da": """
        og i jeg det at en den til er som på de med han af for ikke der var mig sig men et har om vi min
        havde ham hun nu over da fra du ud sin dem os op man hans hvor eller hvad skal selv her alle vil
        blev kunne ind når være dog noget ville jo deres efter ned hvem hvorfor hvordan dette denne
    """,
    "no": """
        og i jeg det at en et den til er som på de med han av ikke der så var meg seg men har om vi min
        hadde ham hun nå over da ved fra du ut sin dem oss opp man kan hans hvor eller hva skal selv her
        alle vil bli ble kunne inn når være noe ville etter ned hvem hvorfor hvordan dette denne
    """,
    "fi": """
        ja tai mutta että jos kun kuin niin se ne tämä nämä tuo nuo minä sinä hän me te he joka mikä kuka
        mitä missä milloin miksi miten on oli ovat olivat olla ei eivät en et ole myös vain jo vielä
    """,
    "tr": """
        ve veya ya ile de da ki bu şu o bir biz siz onlar ben sen mi mı mu mü ne neden niçin niye nasıl
        nerede kim hangi kaç için gibi kadar daha çok en ama fakat değil var yok olan olarak her şey
    """,
    "pl": """
        i a oraz lub albo ale że żeby czy jak gdy gdzie kiedy kto co dlaczego jaki jaka jakie który która
        które ja ty on ona ono my wy oni się mnie mi ci jego jej ich ten ta to te tym tego jest są był
        była było były być nie tak już też tylko bardzo w we z ze na do od po za przez przy dla o u pod
        nad
    """,
    "ru": """
        и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было
        вот от меня еще нет о из ему когда даже ну ли если уже или ни быть был него до вас нибудь вам ведь
        там потом себя ей они тут где есть надо ней для мы тебя их чем была сам чтоб чтобы без чего этот
        эта это эти того кто какой какая какие почему зачем который которая при об под над после перед
        через
    """,
    "el": """
        ο η το οι τα του της των τον την και ή αλλά αν να θα δεν μη μην με σε για από προς στο στη στον
        στην στα που πως πώς πότε πού ποιος ποια ποιο τι γιατί είναι ήταν έχει έχουν εγώ εσύ αυτός αυτή
        αυτό μου σου μας σας τους ένα ένας μια
    """,
    "ar": """
        في من على إلى عن مع هذا هذه ذلك تلك الذي التي الذين هو هي هم نحن أنا أنت كان كانت يكون ما ماذا متى
        أين كيف لماذا هل لا لم لن إن أن قد كل بعض ثم أو و بعد قبل عند بين
    """,
    "he": """
        של את על עם אל מן הוא היא הם הן אני אתה אתם אנחנו זה זאת זו אלה מה מי מתי איפה איך למה האם לא כן
        גם רק כי אם או אבל כל יש אין היה הייתה היו
    """,
    "hi": """
        का के की को में से पर और या यह वह ये वे है हैं था थे थी हो ने भी तो ही कि क्या कब कहाँ कैसे क्यों
        कौन नहीं न एक मैं हम तुम आप
    """,
}

STOP_WORDS: dict[str, frozenset[str]] = {
    code: frozenset(fold(word) for word in words.split()) for code, words in _LISTS.items()
}
