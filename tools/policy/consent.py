"""Whether a task consents to a command: it is that command, or orders us to run it.

A mention is no consent. The command is in backticks, as a whole, in a sentence of a form we know to be an order:
a polite word, a verb such as "run", the command, and little else, all in one language. The task is one short paragraph
of sentences that we all understand: orders, what to do afterwards, and thanks. A negation, a condition, a question
mark or a quotation mark anywhere in the task makes it a question for you. Whatever isn't understood is no consent.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import NamedTuple

_LONGEST = 1_000
_CODE = re.compile(r"`([^`\n]+)`")
#: Placeholder of a command in backticks; the number names it.
_MARK = "\0"
_TOKENS = re.compile(r"\0\d+|[^\s,:]+|[,:]")
_SENTENCES = re.compile(r"(?<![.!;…。！])[.!;…。！]+(?:\s+|$)|\n+")
_QUOTES = re.compile(r"[\"“”„‟«»‹›「」『』<>\[\]{}|*#~=]|(?<!\w)['’‘‚]|['’‘‚](?!\w)|[?¿？]")
_LISTED = re.compile(r"^(?:\s{4,}|\t|\s*(?:[-+•]|\d+[.)])\s)", re.MULTILINE)


def _words(text: str) -> frozenset[str]:
    return frozenset(unicodedata.normalize("NFC", text).split())


class _Language(NamedTuple):
    """The words of an order."""

    verbs: frozenset[str]
    #: After "bitte" and the command, or after "veuillez".
    infinitives: frozenset[str]
    before: frozenset[str]
    between: frozenset[str]
    after: frozenset[str]
    conjunctions: frozenset[str]
    #: What may be asked for after the command ran.
    then: frozenset[str]
    #: How a task may begin that ends with "and run".
    work: frozenset[str]
    thanks: frozenset[str]
    polite: frozenset[str] = frozenset()
    #: Verbs that mean something else without their second part.
    parts: Mapping[str, str] = {}


_ENGLISH = _Language(
    verbs=_words("run execute launch start rerun invoke"),
    infinitives=frozenset(),
    before=_words(", please now then first next ok okay go ahead and just"),
    between=_words(": the this following command please"),
    after=_words(", now please again once more here for me in the terminal shell"),
    conjunctions=_words(", and then"),
    then=_words("fix show tell report explain summarize summarise describe list print commit"),
    work=_words(
        """
        fix add install update create change write build implement remove rename refactor edit upgrade clean improve
        correct simplify move format document
        """
    ),
    thanks=_words("thanks thank you cheers many very much a lot"),
)
_GERMAN = _Language(
    verbs=_words("führe führ führen starte starten lass lasse"),
    infinitives=_words("ausführen starten"),
    before=_words(", bitte jetzt dann zuerst nun"),
    between=_words(": sie den das diesen dieses folgenden folgendes befehl kommando bitte jetzt mal"),
    after=_words(", jetzt bitte mal einmal noch erneut hier für mich im terminal"),
    conjunctions=_words(", und dann danach"),
    then=_words("zeig zeige sag sage erkläre berichte behebe repariere"),
    work=_words("behebe repariere ergänze installiere aktualisiere erstelle ändere schreibe entferne verbessere"),
    thanks=_words("danke vielen dank schön"),
    polite=_words("bitte"),
    parts={"führe": "aus", "führ": "aus", "führen": "aus", "lass": "laufen", "lasse": "laufen"},
)
_SPANISH = _Language(
    verbs=_words("ejecuta ejecute ejecutar corre corra lanza lance inicia arranca"),
    infinitives=frozenset(),
    before=_words(", por favor ahora luego primero entonces"),
    between=_words(": el este siguiente comando"),
    after=_words(", ahora por favor de nuevo otra vez una aquí para mí en la el terminal"),
    conjunctions=_words(", y luego después"),
    then=_words("muestra muéstrame dime explica corrige arregla"),
    work=_words("corrige arregla añade agrega instala actualiza crea cambia escribe elimina mejora"),
    thanks=_words("gracias muchas"),
)
_FRENCH = _Language(
    verbs=_words("lance lancez exécute exécutez exécuter démarre démarrez"),
    infinitives=_words("exécuter lancer démarrer"),
    before=_words(", s'il te vous plaît maintenant puis d'abord ensuite veuillez"),
    between=_words(": la le cette commande suivante"),
    after=_words(", maintenant s'il te vous plaît encore une fois à nouveau ici pour moi dans le terminal"),
    conjunctions=_words(", et puis ensuite"),
    then=_words("montre montre-moi dis dis-moi explique répare corrige"),
    work=_words("corrige répare ajoute installe crée change écris supprime améliore"),
    thanks=_words("merci beaucoup"),
    polite=_words("veuillez"),
)
_PORTUGUESE = _Language(
    verbs=_words("execute executa executar rode roda inicie"),
    infinitives=frozenset(),
    before=_words(", por favor agora depois primeiro então"),
    between=_words(": o este seguinte comando"),
    after=_words(", agora por favor novamente de novo outra vez uma aqui para mim no terminal"),
    conjunctions=_words(", e depois"),
    then=_words("mostre mostra diga diz explique corrija conserte"),
    work=_words("corrija conserte adicione instale atualize crie mude escreva remova melhore"),
    thanks=_words("obrigado obrigada muito"),
)
#: Words after which a verb is no order.
_SUBORDINATE = _words(
    ": to how that which who where zu wie dass das die der welche para cómo que como pour comment qui o quem"
)
_THEREAFTER = _words("then dann danach luego después puis ensuite depois")
_LANGUAGES = (_ENGLISH, _GERMAN, _SPANISH, _FRENCH, _PORTUGUESE)
_DOUBTS = _words(
    """
    not no never none nothing neither nor without avoid stop wait unless if when whenever until before after instead
    except only would should could might may must can cannot forbidden prohibited refuse ignore forget cancel abort
    kidding joke example says said wrote claims suggests told asked reported supposedly nobody under circumstances
    hypothetically imagine pretend suppose danger dangerous careful actually but rather
    nicht nichts kein keine keinen keinem keiner keines keinesfalls nie niemals ohne vermeide vermeiden falls wenn bevor
    bis statt anstatt außer nur sollte sollten würde könnte dürfte darf verboten ignoriere vergiss warte stopp halt bloß
    lieber beispiel sagt sagte schrieb niemand auf keinen fall aber sondern eigentlich weder
    nunca jamás sin evita evite si cuando hasta antes salvo excepto solo sólo debería podría prohibido ignora olvida
    espera ejemplo dice dijo escribió nadie ni nada ningún ninguna tampoco pero sino
    ne n pas jamais sans évite évitez quand jusqu avant sauf seulement devrait pourrait interdit ignorez oublie oubliez
    attends attendez exemple dit écrit personne aucun aucune rien non ni mais plutôt surtout
    não nao sem evitar se quando até exceto só somente apenas deveria poderia proibido ignore esqueça espere exemplo
    disse escreveu ninguém nenhum nenhuma nem nada jamais mas
    """
)
#: Parts of a word in front of an apostrophe, as in n'exécute, qu'il.
_ELIDED = re.compile(r"^(?:n|qu|jusqu|lorsqu|s)['’]|n['’]t$")


def consents(command: str, task_text: str) -> bool:
    """Whether your task tells us to run exactly this command line."""
    line, text = command.strip(), task_text.strip()
    if not line or not text:
        return False
    return text in (line, f"`{line}`") or line in _ordered(task_text.strip("\r\n"))


def _ordered(text: str) -> frozenset[str]:
    """The commands that a task orders."""
    if len(text) > _LONGEST or "`" not in text or "``" in text or text.count("`") % 2 or "\0" in text:
        return frozenset()
    if re.search(r"\n\s*\n", text) or _LISTED.search(text):
        return frozenset()
    commands = [found.strip() for found in _CODE.findall(text)]
    numbers = iter(range(len(commands)))
    plain = _CODE.sub(lambda _: f" {_MARK}{next(numbers)} ", unicodedata.normalize("NFC", text).replace("’", "'"))
    if _QUOTES.search(plain) or "`" in plain:
        return frozenset()
    sentences = [_TOKENS.findall(sentence.casefold()) for sentence in _SENTENCES.split(plain) if sentence.strip()]
    if any(_is_doubt(word) for sentence in sentences for word in sentence):
        return frozenset()
    for language in _LANGUAGES:
        found: set[str] = set()
        for sentence in sentences:
            ordered = _order(sentence, language)
            # Orders come first, then at most what to do with the result, and thanks.
            if not ordered and not (found and _is_afterthought(sentence, language)):
                break
            found.update(commands[int(mark[1:])] for mark in ordered)
        else:
            return frozenset(found)
    return frozenset()


def _is_doubt(word: str) -> bool:
    return word in _DOUBTS or (not word.startswith("s'il") and _ELIDED.search(word) is not None)


def _is_afterthought(words: list[str], language: _Language) -> bool:
    rest = _skip(words, language.before)
    if any(word[0] == _MARK for word in rest):
        return False
    return language.thanks.issuperset(word for word in words if word != ",") or (
        bool(rest) and rest[0] in language.then
    )


def _order(words: list[str], language: _Language) -> list[str]:
    """The marks of the commands that this sentence orders; none if it is anything but an order."""
    rest = _skip(words, language.before)
    polite = not language.polite.isdisjoint(words[: len(words) - len(rest)])
    rest = _after_work(rest, language)
    if len(rest) >= 2 and rest[0][0] == _MARK and rest[1] in language.infinitives:
        marks, rest, part = rest[:1], rest[2:], None
    elif rest and (rest[0] in language.verbs or (polite and rest[0] in language.infinitives)):
        part = language.parts.get(rest[0])
        marks, rest = _marks(rest[1:], language)
    else:
        return []
    if part is not None:
        if rest[:1] != [part]:
            return []
        rest = rest[1:]
    rest = _skip(rest, language.after)
    after = _skip(rest, language.conjunctions)
    done = not rest or (len(after) < len(rest) and after and after[0] in language.then)
    stray = any(word[0] == _MARK for word in rest)
    return marks if done and not stray else []


def _after_work(words: list[str], language: _Language) -> list[str]:
    """Without the work before it: "fix the test, then run". Not "explain how to build, then run"."""
    if not words or words[0] not in language.work:
        return words
    for place in range(2, len(words)):
        if words[place][0] == _MARK or words[place] in _SUBORDINATE:
            return words
        if words[place] in language.verbs and words[place - 1] in _THEREAFTER:
            return words[place:]
    return words


def _marks(words: list[str], language: _Language) -> tuple[list[str], list[str]]:
    """One command or several with "and" between them, and the words after them."""
    marks: list[str] = []
    rest = _skip(words, language.between)
    while rest and rest[0][0] == _MARK:
        marks.append(rest[0])
        rest = rest[1:]
        following = _skip(rest, language.conjunctions)
        if following and following[0] in language.verbs:
            following = _skip(following[1:], language.between)
        if len(following) == len(rest) or not following or following[0][0] != _MARK:
            break
        rest = following
    return marks, (rest if marks else ["?"])


def _skip(words: list[str], known: Iterable[str]) -> list[str]:
    place = 0
    while place < len(words) and words[place] in known:
        place += 1
    return words[place:]
