"""Signs in a request that say more than its words: agreement, refusal, repeating, undoing, a ban on changes, a traceback, the form of a report, size.

In English, German, Spanish, French and Portuguese.
"""

# ruff: noqa: E501 - a list of alternatives reads better than its pieces

import re
from functools import lru_cache

#: A longer text is no mere agreement.
_SHORT = 120
_HEAD, _TAIL = 6_000, 2_000

_YES = (
    r"yes|yep|yeah|yup|sure|why not|warum nicht|por qu[eé] no|pourquoi pas|por que n[ãa]o|pode ser|ok(?:ay)?|alright|fine|great|good|perfect|nice|cool|right|exactly|agreed?|please|"
    r"ja|jo|jep|klar|gern(?:e)?|genau|super|prima|passt|einverstanden|bitte|gut|okay|"
    r"s[ií]|claro|vale|dale|perfecto|bien|de acuerdo|por favor|adelante|"
    r"oui|d'accord|ok|parfait|bien|super|volontiers|entendu|s'il te plaît|s'il vous plaît|"
    r"sim|claro|perfeito|beleza|ótimo|isso|certo|combinado|por favor"
)
_DO = (
    r"(?:please )?(?:do|apply|make|implement|ship|fix|use|take|pick|choose|try|proceed with|go (?:ahead|for|on|with)(?: with)?|continue with) "
    r"(?:it|that|this|so|those(?: changes)?|these(?: changes)?|as (?:you )?(?:proposed|suggested)|option \w{1,6}|number \w{1,6}|"
    r"(?:the|your) (?:(?:first|second|third|last|other|1st|2nd|3rd) )?(?:one|option|suggestion|proposal|plan|idea|approach|solution|variant|version|fix|change|edit)s?)|"
    r"(?:it |that |this )?(?:looks|sounds|seems) (?:right|good|fine|great|ok(?:ay)?|reasonable|perfect)|that works|"
    r"go (?:ahead|for it|on)|proceed|carry on|continue|make it so|you may|let'?s (?:do|go with|try) (?:it|that|this)|"
    r"i agree|that'?s (?:right|fine|good|what i (?:want|meant))|works for me|do so|"
    r"(?:ja )?mach(?:'?s| es| das| das so| weiter| mal| bitte)?(?: so)?|leg los|weiter(?: so)?|tu (?:es|das)|"
    r"setz(?:e)? (?:das|es) (?:so )?um|übernimm (?:das|es)|wende (?:das|es) an|(?:das )?klingt gut|nur zu|so machen|(?:so )?(?:umsetzen|übernehmen|einbauen|anwenden)|"
    r"bau (?:das|es) (?:bitte |so )*ein|(?:nimm|mach|wähle?) (?:bitte )?(?:die|den|das|deinen?) (?:(?:erste|zweite|dritte|letzte|andere)n? )?(?:variante|option|lösung|idee|vorschlag|version|ansatz)|"
    r"hazlo|haz eso|h[áa]galo|aplica(?:lo)?(?: (?:eso|esto|el cambio))?|sigue|contin[úu]a|procede|suena bien|me parece bien|"
    r"adelante(?: con eso)?|(?:haz|aplica|usa|toma|elige) (?:la|el|tu) (?:(?:primera?|segund[ao]|tercera?|últim[ao]) )?(?:opción|sugerencia|propuesta|solución|idea|cambio)|"
    r"vas-y|allez-y|fais(?:-le| ça| cela)|applique(?:-le| ça| cela)?|continue|ça me va|ça marche|bonne idée|"
    r"(?:prends|applique|utilise|choisis|fais) (?:la|le|ta|ton) (?:(?:première|deuxième|seconde|troisième|dernière) )?(?:option|solution|proposition|idée|suggestion|variante|modification)|"
    r"(?:pode )?fa(?:ça|z|zer)(?: isso| assim)?|vai em frente|pode (?:seguir|ir|aplicar)(?: isso)?|aplique(?: isso)?|"
    r"continue|prossiga|boa ideia|por mim tudo bem|manda ver|"
    r"(?:faça|faz|aplica|aplique|usa|use|escolha|pegue?) (?:a|o|sua|tua) (?:(?:primeira|segunda|terceira|última) )?(?:opção|sugestão|proposta|solução|ideia|mudança)"
)
_FILLER = (
    r"(?:then|now|please|thanks|thank you|to me|mal|dann|bitte|danke|jetzt|so|gracias|ahora|por favor|merci|maintenant|"
    r"obrigad[oa]|agora|então|alors|pues|like that|así|ainsi|comme ça|assim)"
)
_AGREES = re.compile(rf"(?:(?:{_YES}|{_DO}|and|und|y|et|e|{_FILLER})[\s,.!;:–-]*)+", re.IGNORECASE)
_DOES = re.compile(rf"\b(?:{_YES}|{_DO})\b", re.IGNORECASE)
#: With thanks, praise alone ends the conversation; only these still agree.
_THANKED = re.compile(r"\b(?:thanks|thank you|danke|gracias|merci|obrigad[oa])\b", re.IGNORECASE)
_CONSENTS = re.compile(
    rf"\b(?:yes|yep|yeah|yup|sure|please|ja|jo|jep|klar|gerne?|bitte|s[ií]|claro|por favor|oui|volontiers|sim|{_DO})\b",
    re.IGNORECASE,
)

_PRAISES = re.compile(r"\b(?:it |that |this )?looks (?:right|good|fine|great|ok(?:ay)?|perfect)\b")

#: The whole text turns down what was proposed, or puts it off.
_NO = (
    r"no(?:pe)?|nah|not (?:now|yet|today|really)|(?:maybe |perhaps )?(?:later|tomorrow|next week|another time)|(?:let'?s )?(?:leave|keep) (?:it|that|this|everything|things)(?: (?:as (?:it|they) (?:is|are)|alone|be))?|"
    r"never ?mind|nvm|skip (?:it|that|this)|(?:let'?s|we should|rather) not(?: (?:do|change|touch) (?:it|that|this|anything))?|(?:please )?(?:don'?t|do not)(?: do (?:it|that|this|anything))?|stop|hold (?:on|off)|wait|forget (?:it|about it)|(?:i'?d )?rather not|better not|no need|(?:it'?s )?not worth (?:it|the effort)|"
    r"nein|nö|nee?|noch nicht|jetzt nicht|(?:erst ?mal|vorerst|lieber|besser|bitte) nicht|(?:vielleicht )?(?:später|morgen|nächste woche|ein andermal)|lass (?:es|das|mal|lieber)(?: (?:so|sein|bleiben|erst ?mal|mal|lieber))*|vergiss es|warte(?: mal| noch)?|stopp|nicht nötig|(?:das )?lohnt (?:sich )?nicht|"
    r"(?:todavía|aún|aun|ahora|mejor|por ahora|así) no|no (?:todavía|aún|ahora|lo hagas|hace falta)|(?:tal vez |quizás? )?(?:después|luego|más tarde|mañana|otro día)|d[ée]jalo(?: (?:así|como está|estar))?|olv[ií]dalo|espera|para|no (?:vale|merece) la pena|"
    r"non|on verra(?: (?:ça|plus tard|demain))*|pas (?:encore|maintenant|tout de suite|pour l'instant|besoin|la peine)|(?:peut-être )?(?:plus tard|demain|une autre fois)|laisse(?: (?:tomber|ça|comme ça|tel quel))*|surtout pas|plutôt pas|attends|oublie(?: ça)?|(?:ça )?(?:n'en )?vaut pas la peine|"
    r"n[ãa]o(?: (?:precisa|agora|faz isso|ainda))?|(?:ainda|agora|melhor|por enquanto) n[ãa]o|(?:talvez )?(?:depois|mais tarde|amanhã|outro dia)|deix[ae](?: (?:pra|para) (?:lá|depois)| (?:assim|quieto|como está))?|esquece|espera|calma|n[ãa]o (?:vale a pena|compensa)"
)
_NO_FILLER = (
    r"(?:for now|right now|yet|just|though|first|hmm+|ok(?:ay)?|it'?s fine|that'?s fine|mal|erst ?mal|vorerst|fürs erste|noch|doch|por ahora|de momento|mejor|pour (?:l'instant|le moment)|finalement|por enquanto|mesmo|"
    r"please|thanks|thank you|bitte|danke|gracias|por favor|merci|obrigad[oa]|valeu)"
)
_DECLINES = re.compile(rf"(?:{_NO_FILLER}[\s,.!;:–-]+)*(?:{_NO})(?:[\s,.!;:–-]+(?:{_NO}|{_NO_FILLER}))*[\s,.!;:–-]*")
#: The whole text asks for the same once more.
_AGAIN = (
    r"again|once (?:more|again)|one more time|(?:do|run|try|check|start) (?:(?:it|that|this|them|those|these) )?(?:again|once more|one more time)|retry|re-?(?:run|do|try|start)(?: (?:it|that|them|everything))?|repeat(?: (?:it|that))?|"
    r"noch ?mals?|noch ?ein ?mal|erneut|wiederhol(?:e)?(?: (?:das|es))?|(?:mach|versuch|probier|starte|lass)(?:e|'?s)?(?: (?:es|das|sie))? ?(?:noch ?mal|noch einmal|erneut)(?: laufen)?|"
    r"otra vez|de nuevo|nuevamente|una vez más|rep[ií]te(?:lo|los|las)?|(?:inténtalo|hazlo|pruébalo|ejecútal[oa]s?) (?:otra vez|de nuevo)|vuelve a (?:intentar|hacer|probar|ejecutar)(?:l[oa]s?)?|"
    r"encore(?: une fois)?|une fois de plus|(?:de|à) nouveau|réessaie|recommence|re-?lance(?:-l[ea]s?)?|refais(?:-le| ça)?|"
    r"de novo|outra vez|mais uma vez|novamente|rep(?:ete|ita)(?: isso)?|(?:tent[ae]|fa[zç]a?|rod[ae]|execut[ae])(?: isso)? (?:de novo|outra vez|novamente)"
)
_REPEATS = re.compile(
    rf"(?:(?:and|ok(?:ay)?|now|please|und|jetzt|bitte|y|ahora|et|maintenant|e|agora)[\s,]+)*(?:{_AGAIN})"
    r"(?:[\s,]+(?:please|now|bitte|jetzt|mal|por favor|ahora|s'il te plaît|stp|svp|maintenant|agora|thanks|danke|gracias|merci|obrigad[oa]))*[\s.!]*"
)

#: The whole text asks to commit or publish what was done, perhaps after praise.
_PUBLISHES = re.compile(
    rf"(?:(?:{_YES}|awesome|looks good|lgtm|sieht gut aus|toll|genial|estupendo|nickel|top|legal|massa|and|und|y|et|e|then|{_FILLER})[\s,.!;:–-]+)*"
    r"(?:(?:git )?(?:commit|push|merge|deploy|release|ship)(?:e|ea|en|ten)?|(?:haz|hacer|fais|faire|faz|fazer|faça|dá|dar|pode dar|pode fazer|manda|mach|make|do)(?: (?:el|un|le|o|um|den|einen|a|the))? (?:git )?(?:commit|push|merge|deploy|release|pull request|pr)|"
    r"súbelo|sube(?: (?:eso|esto))?|publícalo|despliégalo|pousse|déploie|publie|sobe|publica|roll(?:e)? (?:es|das) aus)"
    r"(?:(?:[\s-]+(?:it|that|this|them|everything|all|changes?|the|das|es|alles|bitte|mal|le|la|ça|tout|lo|todo|eso|isso|tudo|please|now|jetzt|ahora|maintenant|agora|to|into|on|auf|nach|a|sur|vers|dans|pra|para|no|na|and|und|y|et|e|commit|push|merge|deploy|main|master|develop|origin|production|prod|staging))*)[\s.!]*"
)
#: The whole text names what to run next: "and now the build".
_RUNS_NEXT = re.compile(
    r"(?:(?:and|ok(?:ay)?|und|gut|y|et|e)[\s,]+)*(?:now|then|next|jetzt|nun|dann|ahora|luego|maintenant|ensuite|agora|depois)[\s,]+"
    r"(?:(?:the|all|den|der|die|das|alle|el|la|los|las|le|les|o|a|os|as)\s+)*"
    r"(?:build|tests?|linter|lint|type ?check|typecheck|mypy|ruff|pytest|pruebas|testes|compilación|compilation|compilação)"
    r"(?:[\s,]+(?:please|bitte|por favor|stp|svp))?[\s.!]*"
)
#: Says that tests or a build fail now, without asking which.
_RED = re.compile(
    r"\b(?:tests?|testfälle|builds?|pruebas?|testes?|compilación|compilation|compilação|ci|pipeline)\b(?: \w+){0,2}? "
    r"(?:fail(?:s|ed|ing)?|broke|break|red|rot|kaputt|fehl|fallan?|fallaron|fallando|rojos?|rotas?|échoue(?:nt)?|rouges?|cassés?|falham?|falharam|falhando|vermelh\w+|quebr\w+)\b"
)
_ASKS_WHICH = re.compile(
    r"\?|\b(?:which|whether|if|why|how|what|welche\w*|ob|warum|wieso|was|wie|cuál\w*|qué|si|por|cómo|quels?|quelles?|pourquoi|comment|quais|qual|se|como)\b"
)
_OTHER_OPTIONS = re.compile(
    rf"(?:(?:{_YES}|and|again|the same|und|nochmal|dasselbe|y|otra vez|lo mismo|et|la même chose|e|de novo|o mesmo|{_FILLER})[\s,.]+)*"
    r"(?:with|without|using|add|mit|ohne|con|sin|avec|sans|com|sem)?\s*(?:--?\w[\w-]*(?:[= ][\w./:-]+)?[\s,.!]*)+(?:please|bitte|por favor|stp|svp)?[\s.!]*"
)

#: The whole request asks to undo the last change; politeness around it doesn't matter.
_UNDO = (
    r"(?:undo|revert|reverse|take back|roll back) (?:(?:the|your|that|this) )?(?:very )?"
    r"(?:last|latest|previous|most recent) (?:change|edit|modification)(?: you (?:just )?made| of yours| again)?|"
    r"(?:take|roll) (?:the|your|that) (?:last|latest|previous|most recent) (?:change|edit|modification) back|"
    r"mach(?:e|st du)? (?:bitte )?(?:die|deine) (?:aller)?letzte (?:änderung|bearbeitung) (?:wieder )?rückgängig|"
    r"nimm (?:bitte )?(?:die|deine) (?:aller)?letzte (?:änderung|bearbeitung) (?:wieder )?zurück|"
    r"(?:die |deine )?(?:aller)?letzte (?:änderung|bearbeitung) (?:wieder )?(?:rückgängig(?: machen)?|zurücknehmen)|"
    r"(?:deshaz|deshacer|deshaga|revierte|revertir|revierta) (?:el último cambio|la última (?:modificación|edición)|tu último cambio)|"
    r"(?:annule[rz]?|défai[st]|défaire|reviens sur|revenir sur) "
    r"(?:(?:la|ta|votre) dernière (?:modification|édition)|(?:le|ton|votre) dernier changement)|"
    r"(?:desfa[çz]a?|desfazer|revert[ae]|reverter) (?:a (?:sua )?última (?:alteração|mudança|modificação|edição))"
)
_UNDO_THAT = (
    r"undo(?: (?:that|it|this))?|(?:mach|nimm) (?:das|es) (?:wieder )?(?:rückgängig|zurück)|rückgängig(?: machen)?|"
    r"deshazlo|deshaz eso|annule(?:-le| ça| cela)|desfa(?:z|ça) isso"
)
_ASKING = (
    r"(?:¿|(?:no|nein|non|não)[,.!:–-]+ ?|(?:ok(?:ay)?|hmm+|oops|please|now|bitte|jetzt|por favor|ahora|s'il (?:te|vous) plaît|maintenant|agora|"
    r"can you|could you|would you|kannst du|könntest du|puedes|podrías|peux-tu|pouvez-vous|tu peux|você pode|pode|podes)[\s,.!:–-]+)*"
)
_THANKS = r"(?:[\s,]+(?:please|now|again|thanks|thank you|bitte|jetzt|danke|por favor|gracias|s'il (?:te|vous) plaît|merci|obrigad[oa]))*"
_ASKS_UNDO = re.compile(rf"{_ASKING}(?:{_UNDO}){_THANKS}[\s.!?]*")
_ASKS_UNDO_THAT = re.compile(rf"{_ASKING}(?:{_UNDO_THAT}){_THANKS}[\s.!?]*")

_REPAIR = (
    r"(?:(?:please|then|also|bitte|dann|auch|anschließend|luego|puis|depois|por favor)\s+)*"
    r"(?:(?:fix|repair|correct|clean (?:up|it)|resolve|address|solve|sort (?:it |this |that )?out|debug)\b|(?:make|get) (?:[\w' ]{1,40} )?(?:pass|work|green|passing|working)\b|get it going\b|"
    r"beheb|korrigier|reparier|fixe?\b|löse?\b|bring (?:[\w ]{1,40} )?(?:zum laufen|in ordnung)|räum|mach (?:[\w ]{1,30} )?grün|"
    r"arr[eé]gl|corr[ií][gj]|repar|solucion|resu[eé]lv|haz que (?:[\w ]{1,30} )?(?:pase|funcione)|"
    r"répar|règle|résou|nettoie|fais (?:les |tout )?passer|"
    r"consert|arrum|resolv(?:a|e)\b|faça (?:[\w ]{1,30} )?passar)"
)
#: Begins like a question, which a hurried one only shows that way. "Can you …?" and "why not …?" ask for something.
_QUESTION = re.compile(
    r"(?:(?:and|but|so|ok(?:ay)?|hm+|wait|oh|sorry|und|aber|also|moment|y|pero|et|mais|e|mas)[\s,.:–-]+)*(?:"
    r"(?:what|how)(?!(?:'s| is)? (?:about|if)\b)(?:'s|s)?\b|(?:why|when)(?! not\b| don'?t\b)\b|(?:where|which|who)(?:'s|s)?\b|"
    r"(?:is|isn'?t|are|aren'?t|was|wasn'?t|were|does|doesn'?t|did|didn'?t|will|won'?t|has|hasn'?t)\b|(?:would|wouldn'?t|do|don'?t|should|could|can) (?:i|they|it|that|this)\b|do (?:we|you)\b|"
    r"(?:wie|warum|wieso|weshalb|wozu|woher|wo|wer|wann|welche[rsnm]?|was (?:macht|ist|war|sind|heißt|passiert|bedeutet|bringt))\b|"
    r"(?:¿|qué|cómo|cuál|cuándo|dónde|quién|por qué|para qué)|(?:pourquoi|comment|quand|quel(?:le)?s?|qui|où|c'est quoi|à quoi|qu'est-ce)\b|"
    r"(?:o que|como|quando|onde|quem|qual|quais|por que|pra que)\b)"
)
#: After something to run or to look at, an order to repair what that shows.
_REPAIRS = re.compile(
    r"(?:\b(?:and|then|und|dann|danach|y|luego|después|et|puis|ensuite|e|depois)|[,;.:])\s+"
    + _REPAIR
    # To find something and to change it: "find all uses of x and replace them".
    + r"|^\W*(?:please )?(?:find|check|look|search|see|tell|explain|analy[sz]e|compare|list|investigate|figure|read|go)\b[^.?!\n]* and (?:then )?"
    r"(?:change|switch|replace|remove|delete|move|update|rewrite|convert|adapt|adjust|improve|simplify|rename|keep) (?:it|them|that|those|the)\b"
)
#: After a question, a sentence that orders to repair or to change what it is about.
_ORDERS_NEXT = re.compile(
    r"\?!*\s+(?:(?:if (?:not|so|yes)|otherwise|wenn nicht|wenn ja|falls nicht|sonst|si no|sinon|se não|senão)\b(?![\s,]+(?:list|tell|explain|show|say|name|wh|how)\w*)|"
    r"(?:(?:it|this|that|es|das|ça) )?(?:should(?:n'?t)?|must(?:n'?t)?|needs to|soll(?:te)?|muss|darf|debe(?:ría)?|doit|devrait|deve(?:ria)?) (?!i\b|we\b|it\b|that\b|ich\b|wir\b|man\b|das\b|yo\b|je\b|eu\b)|"
    r"(?:can|could|will|would) you (?:please )?(?:do|fix|change|add|remove|make) |"
    rf"{_REPAIR}|(?:(?:please|then|just|bitte|dann|por favor|entonces|alors|então)\s+)*(?:"
    r"(?:do (?:it|that|so)|(?:put|move|get) (?:it|that|this|them)|make sure|find and fix|get rid|remove|delete|drop|use|add|change|turn (?:it|that|this|them)|make (?:it|that|this|them)|replace|disable|enable|rename|move|increase|reduce|switch)\b|"
    r"entfern|lösch|änder[en]|ersetz|nimm|mach (?:es|das)|füg|quít|quita|elim[ií]na|borra|bórra|cambia|cámbia|agrega|añad[ea]|ponl[oae]|enlève|supprime|remplace|ajoute|change|mets|tira |remov[ae]|troca|adiciona|coloca|muda ))"
)

#: Asks whether something can be done, or that someone do it: an answer alone may not be enough.
_ACTS = re.compile(
    r"\b(?:(?:can|could|may|might) (?:this|that|it|these|they|we|you|i|some(?:one|body)|any(?:one|body|thing)|something)\b[^.?!\n]{0,40}?"
    r"\b(?:fixed|done|improved|avoided|prevented|repaired|solved|resolved|addressed|look(?:ed)? into|do (?:something|anything) about|sorted)\b|"
    r"can be (?:fixed|done|improved|avoided|prevented)\b|(?:please|needs? to|should|to) (?:be )?look(?:ed)? into\b|"
    r"(?:some|any)(?:one|body) (?:please |able to )?(?:take a )?look at\b|"
    r"(?:would|is) it (?:be )?possible to (?!see|know|find)\w+|wäre es möglich|ser[ií]a (?:posible|possível)|serait-il possible|"
    r"(?:is|are|ist|sind|está|están|est|sont|estão) (?:still |now |again |wieder |jetzt )?(?:broken|failing|kaputt|defekt|rot[oa]s?|fallando|cassée?s?|en échec|quebrad[oa]s?|falhando)\b|"
    r"(?:kann|könnte|lässt) (?:man|jemand|sich|das|es|da)\b[^.?!\n]{0,50}?\b(?:beheben|reparieren|tun|machen|ändern|verhindern|vermeiden|ansehen|kümmern|verbessern|lösen)\b|"
    r"(?:se puede|se podría|podría alguien|puede alguien|alguien puede|alguien podría)\b[^.?!\n]{0,40}?\b(?:arregl|hacer (?:algo|eso)|evit|mejor|solucion|corregi|revis|mir)\w*|"
    r"(?:peut-on|pourrait-on|on peut|on pourrait|quelqu'un (?:peut|pourrait|peut-il|pourrait-il))\b[^.?!\n]{0,40}?\b(?:répar|corrig|faire (?:quelque chose|ça)|évit|amélior|résou|regard|pencher)\w*|"
    r"(?:dá (?:pra|para)|será que dá|alguém (?:pode|poderia|consegue)|(?:tem|há) como)\b[^.?!\n]{0,40}?\b(?:consert|arrum|corrig|fazer (?:algo|isso)|evit|melhor|resolv|olh|ver)\w*)",
)

#: One of these is in each of them; looking for them first keeps the others cheap.
_ACT_WORDS = re.compile(
    r"can |could |may |might |look|possible|möglich|posible|possível|broken|failing|kaputt|defekt|rot[oa]|"
    r"fallando|cass|échec|quebrad|falhando|kann |könnte |lässt |puede|podr[íi]a|alguien|peut-on|pourr?ait|on peut|quelqu|dá |alguém|tem |há "
)
#: An order to run something, first of all.
_RUNS = re.compile(
    r"\W*(?:(?:please|bitte|por favor|can you|kannst du|puedes|peux-tu|pode) )?"
    r"(?:re-?run|run|execute|start|launch|führ|start|lass|ejecut|corr[ei]|lanz|lance|exécut|démarr|rod[ae]|execut|inici)",
    re.IGNORECASE,
)

_UNLESS = (
    r"(?!\s+(?:else|other|more|but|except|besides|sonst|anderes|weiter|más|mas|otro|outr[ao]|d'autre|autre|salvo|sauf|"
    r"excepto|exceto|außer|"
    # "Without changing anything in how it works" is a condition.
    r"(?:in|no|na|du|de|del|en|au|à|am|an) (?:\w+ )?(?:behaviou?r|how|funciona|comport|fonctionne|verhalten|funktion|lógica|logique|logic)))"
)
#: Nothing at all may change.
_NOTHING = (
    r"(?:don'?t|do not|without|never|no need to) (?:yet )?"
    r"(?:chang|edit|touch|modify|writ|fix|alter|implement)\w* (?:any(?:thing| code| files?| lines?| of (?:it|this|that|them|the))|(?:it|this|that)? ?yet|"
    rf"files)\b{_UNLESS}",
    rf"no edits(?: yet)?\b{_UNLESS}|no changes (?:yet|please|for now)\b|read[- ]only\b|hands off\b",
    r"(?:änder|veränder|bearbeite|fass|mach)e? (?:bitte |noch |mir |vorerst |erst ?mal |jetzt )*"
    rf"(?:nichts|keine (?:datei|zeile)\w*)\b{_UNLESS}",
    r"(?<!sich )(?:nichts|keine datei\w*) (?:ver)?(?:ändern|anfassen|bearbeiten)\b",
    r"(?:leave|lass|lasst|deja|laisse|deixa) (?:the|den|el|le|o) (?:code|código) (?:alone|in ruhe|en paz|tranquille|quieto|em paz)\b",
    r"ohne (?:etwas|irgendetwas|den code|was) zu (?:ver)?ändern\b|nur (?:erklären|anschauen|ansehen|lesen)\b",
    # Not "no cambió nada" and "não mudou nada": nothing has changed.
    rf"(?:no|sin) (?:cambi|modifi|toc|edit)\w*(?<!ó) (?:nada|todavía|aún|archivos|ningún archivo)\b{_UNLESS}",
    rf"ne (?:change|touche|modifie|corrige)[sz]?\w* (?:encore )?(?:rien|pas encore|aucun fichier)\b{_UNLESS}",
    rf"sans rien (?:changer|modifier|toucher)\b{_UNLESS}",
    rf"(?:não|nao|sem) (?:mud|alter|mex|modifi|edit)\w*(?<!ou)(?<!eu) (?:em )?(?:nada|ainda|arquivos|nenhum arquivo)\b{_UNLESS}",
)
#: No code may change, though a document, a structure or a command's output may be what is wanted.
_NO_CODE = (
    rf"(?:don'?t|do not|without) (?:chang|edit|touch|modify|fix)\w*(?: (?:the )?code\b(?! ?(?:style|behav))|,){_UNLESS}",
    rf"no (?:code )?changes\b{_UNLESS}|(?:just|only) (?:explain|tell me|answer|describe|an explanation)\b",
    r"keine änderungen\b|nur eine erklärung\b",
    r"(?:no|sin) (?:cambi|modifi|toc)\w* el código\b|sin cambios\b|s[óo]lo (?:explica|dime|mira)\w*\b",
    r"sans (?:changer|modifier|toucher) (?:le|au|du|de) code\b|juste une explication\b|aucune modification\b",
    r"ne (?:change|touche|modifie)[sz]?\w* pas le code\b|juste expliqu\w+\b",
    r"(?:não|nao|sem) (?:mud|alter|mex|modifi)\w* (?:n)?o código\b|sem (?:alterações|mudanças)\b",
    r"s[óo] (?:explique|explica|olhe|me diga)\b",
    # "Don't fix it, only find out why".
    r"(?:don'?t|do not) (?:fix|repair|solve|change|edit)(?: (?:it|this|that|them))?[,;.:]? (?:but )?(?:only|just|first)\b",
    r"nicht (?:reparieren|beheben|korrigieren|fixen|ändern|anfassen|lösen)[,;.:]? (?:sondern )?(?:nur|erst|bloß)\b",
    r"no (?:l[oa]s? )?(?:arregl|corrij|repar|soluc|cambi|modifi|toqu)\w*[,;.:]? (?:solo|sólo|solamente|primero)\b",
    r"ne (?:l[ea]s? |l')?(?:répar|corrig|résou|chang|modifi|touch)\w* pas[,;.:]?(?: \w+)? (?:juste|seulement|d'abord)\b",
    r"n[ãa]o (?:consert|arrum|corrij|corrig|repar|resolv|mud|alter|mex)\w*(?: isso)?[,;.:]? (?:s[óo]|apenas|primeiro)\b",
)
# One boundary in front of all: as a part of each, it would be looked for again and again at every character.
_FORBIDS_ALL = re.compile(rf"\b(?:{'|'.join(_NOTHING)})")
_FORBIDS_CODE = re.compile(rf"\b(?:{'|'.join(_NO_CODE)})")
#: One of these is in every ban; looking for them first keeps the others cheap.
_BAN_WORDS = re.compile(
    r"n'?t |not |without|never |no |read[ -]only|hands off|just |only |nicht|kein|ohne|nur |sin |solo|sólo|sans|ne |aucun|juste|"
    r"n[ãa]o |sem |s[óo] |alone|ruhe|paz|tranquille|quieto"
)

_TRACE = re.compile(
    r"^Traceback \(most recent call last\)|^\s*File \"[^\"\n]+\", line \d+|^\s*at (?:[\w.$<>\[\] ]+ \()?[^\s()]+:\d+:\d+\)?\s*$"
    r"|^(?:panicked at|panic:|thread '.*' panicked at)|^error(?:\[E\d+\])?: .+$|^[\w.]+(?:Error|Exception|Warning): \S"
    r"|^\s*at [\w.$]+\([\w]+\.java:\d+\)|^E {3,}\w+|^(?:FAILED|ERROR) \S+::\S+|^Exception in thread|^Segmentation fault",
    re.MULTILINE,
)
_REPORT = re.compile(
    r"^\W*(?:steps to reproduce|to reproduce|how to reproduce|reproduction|expected(?: behaviou?r| result| output)?|actual(?: behaviou?r| result| output)?|"
    r"describe the bug|bug description|current behaviou?r|what happened|what i expected|environment|acceptance criteria|bug report|"
    r"schritte (?:zum reproduzieren|zur reproduktion)|erwartetes (?:verhalten|ergebnis)|tatsächliches (?:verhalten|ergebnis)|fehlerbeschreibung|umgebung|"
    r"pasos para reproducir|comportamiento (?:esperado|actual|observado)|resultado (?:esperado|actual|obtenido)|descripción del (?:error|problema|fallo)|entorno|"
    r"étapes (?:pour|de) reprodu\w+|comportement (?:attendu|actuel|observé|constaté)|résultat (?:attendu|obtenu)|description du (?:bug|problème)|environnement|"
    r"passos para reproduzir|como reproduzir|comportamento (?:esperado|atual|observado)|resultado (?:esperado|atual|obtido)|descrição do (?:bug|problema|erro)|ambiente)\W*(?::|$)",
    re.IGNORECASE | re.MULTILINE,
)

#: A request of more characters, or of so many items, is worth a plan.
_LARGE = 700
_MANY = 4
_ITEM = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+\S", re.MULTILINE)
_QUOTED = re.compile(r"```.*?(?:```|\Z)|^Traceback .*?^\S*(?:Error|Exception)\b.*?$", re.DOTALL | re.MULTILINE)
#: Words for work all over a project, in the languages that the router knows.
_BROAD = re.compile(
    r"\b(?:(?:whole|entire) (?:code ?base|project|repository|package|app|application|system)|code ?base|from scratch|"
    r"migrat\w+|rewrite|re-?architect\w*|across the|throughout|every (?:module|file|class|service|package)|"
    r"all (?:modules|files|classes|services|packages)|"
    r"gesamte\w*|ganze[snr]? (?:projekt|code)\w*|überall|alle (?:module|dateien|klassen)|umstell\w+|migrier\w+|"
    r"todo el (?:proyecto|código)|todos los (?:módulos|archivos)|todas las clases|desde cero|migra\w*|"
    r"tout le (?:projet|code)|tous les (?:modules|fichiers)|toutes les classes|de zéro|migre\w*|"
    r"todo o (?:projeto|código)|todos os (?:módulos|arquivos|ficheiros)|todas as classes|do zero)\b",
    re.IGNORECASE,
)


def agrees(text: str) -> bool:
    """Whether the whole text agrees to what was proposed before."""
    bare = text.strip().lower()
    # Most texts fail the first match at their first word; the search would read them to their end.
    if len(bare) > _SHORT or _AGREES.fullmatch(bare + " ") is None:
        return False
    if _THANKED.search(bare) is None:
        return _DOES.search(bare) is not None
    return _CONSENTS.search(_PRAISES.sub("", bare)) is not None


def declines(text: str) -> bool:
    """Whether the whole text turns down what was proposed before, or puts it off."""
    return len(text) <= _SHORT and _DECLINES.fullmatch(text.strip().lower()) is not None


def asks_to_repeat(text: str) -> bool:
    """Whether the whole text asks for the same once more."""
    return len(text) <= _SHORT and _REPEATS.fullmatch(text.strip().lower()) is not None


def asks_to_publish(text: str) -> bool:
    """Whether the whole text asks to commit, push or deploy what was done."""
    return len(text) <= _SHORT and _PUBLISHES.fullmatch(text.strip().lower()) is not None


def names_next_run(text: str) -> bool:
    """Whether the whole text names tests or a build, to be run next."""
    return len(text) <= _SHORT and _RUNS_NEXT.fullmatch(text.strip().lower()) is not None


def says_tests_fail(text: str) -> bool:
    """Whether it is short and says, without asking why, that tests or a build fail now."""
    bare = text.lower()
    return len(bare) <= _SHORT and _RED.search(bare) is not None and _ASKS_WHICH.search(bare) is None


def asks_for_other_options(text: str) -> bool:
    """Whether the whole text names options of a command: "now with --strict"."""
    return len(text) <= _SHORT and _OTHER_OPTIONS.fullmatch(text.strip().lower()) is not None


def asks_to_undo(text: str, *, follows: bool = False) -> bool:
    """Whether the whole text asks to undo the last change. "Undo that" does so only if something was said before."""
    bare = " ".join(text.lower().split())
    if len(bare) > _SHORT:
        return False
    return _ASKS_UNDO.fullmatch(bare) is not None or (follows and _ASKS_UNDO_THAT.fullmatch(bare) is not None)


def asks_to_repair(text: str) -> bool:
    """Whether it asks to repair what it wants run or found: "run the tests and fix what fails"."""
    return _REPAIRS.search(_lower(text)) is not None


def asks_and_orders(text: str) -> bool:
    """Whether it asks a question, and then orders to change what that is about: "why does it fail? fix it"."""
    part = _lower(text)
    return "?" in part and _ORDERS_NEXT.search(part) is not None


def asks_to_act(text: str) -> bool:
    """Whether it asks that something be done about what it describes: "can anything be done about it?"."""
    part = _lower(text)
    return _ACT_WORDS.search(part) is not None and _ACTS.search(part) is not None


#: Two paths, of which the first is written like one.
_MOVES = re.compile(
    r"(?:please )?(?:rename|move) (?:(?:the |my |our )?file \S+|[`\"']?[\w@+-]*[./][\w./@+-]*[`\"']?) (?:in)?to \S+(?: please)?[.!]?",
    re.IGNORECASE,
)


def orders_to_move(text: str) -> bool:
    """Whether the whole text is an order to rename or move what is named by a path."""
    return len(text) < _SHORT and _MOVES.fullmatch(text.strip()) is not None


#: One name with its owner, such as `Markdown.parse`: its words say nothing about what is wanted.
_EXPLAINS = re.compile(
    r"(?:please )?(?:explain|describe|erkl[äa]re?|explica|explique) [`\"']?\w+(?:(?:\.|::|#)\w+)+(?:\(\))?[`\"']?[.!?]?",
    re.IGNORECASE,
)


def asks_to_explain(text: str) -> bool:
    """Whether the whole text asks to explain what has this qualified name."""
    return len(text) < _SHORT and _EXPLAINS.fullmatch(text.strip()) is not None


def asks_a_question(text: str) -> bool:
    """Whether it holds a question mark, or begins like a question."""
    return "?" in text or _QUESTION.match(text.lstrip()[:_SHORT].lower()) is not None


def orders_to_run(text: str) -> bool:
    """Whether it begins with an order to run something."""
    return _RUNS.match(text) is not None


def forbids_changes(text: str) -> bool:
    """Whether nothing at all may change."""
    return _may_forbid(text) and _FORBIDS_ALL.search(_lower(text)) is not None


def forbids_code(text: str) -> bool:
    """Whether no code may change."""
    return _may_forbid(text) and _FORBIDS_CODE.search(_lower(text)) is not None


def reports_failure(text: str) -> bool:
    """Whether it holds a traceback, or has the form of a bug report."""
    part = _part(text)
    return "\n" in part and (_TRACE.search(part) is not None or len(_REPORT.findall(part)) >= 2)


def without_trace(text: str) -> str:
    """The text around a traceback: what is asked about it."""
    lines = _part(text).splitlines()
    return "\n".join(line for line in lines if not _TRACE.search(line) and not line.startswith(("    ", "\t")))


def is_large(request: str) -> bool:
    """Whether it is worth a plan of its own. A small request goes straight to the coder."""
    text = _QUOTED.sub(" ", request[:20_000])
    return len(text) > _LARGE or len(_ITEM.findall(text)) >= _MANY or _BROAD.search(text) is not None


@lru_cache(maxsize=1)
def _may_forbid(text: str) -> bool:
    return _BAN_WORDS.search(_lower(text)) is not None


@lru_cache(maxsize=1)
def _lower(text: str) -> str:
    """Several cues read the same text, one after the other."""
    return _part(text).lower()


def _part(text: str) -> str:
    return text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]}\n{text[-_TAIL:]}"
