"""Whether a task consents to a command: it is that command, or tells us in so many words to run it.

A mention is no consent. The command stands in backticks, as a whole, in a sentence of a form we know to be an order:
a polite word, a verb such as "run", the command, and little else. The task is one short paragraph and begins with
the order, so that pasted text can't give one. A negation, a condition, a question mark or a quotation mark anywhere
in the task makes it a question for you. Whatever isn't understood, in any language, is no consent.
"""

import re
import unicodedata
from collections.abc import Iterable

_LONGEST = 1_000
_CODE = re.compile(r"`([^`\n]+)`")
#: Placeholder of a command in backticks; the number names it.
_MARK = "\0"
_TOKENS = re.compile(r"\0\d+|[^\s,:]+|[,:]")
_SENTENCES = re.compile(r"[.!;…。！]+(?:\s+|$)|\n+")
_QUOTES = re.compile(r"[\"“”„‟«»‹›「」『』<>\[\]{}|*#~=]|(?<!\w)['’‘‚]|['’‘‚](?!\w)|[?¿？]")
_LISTED = re.compile(r"^(?:\s{4,}|\t|\s*(?:[-+•]|\d+[.)])\s)", re.MULTILINE)


def _words(text: str) -> frozenset[str]:
    return frozenset(unicodedata.normalize("NFC", text).split())


#: English, German, Spanish, French, Portuguese; the same in all tables.
_VERBS = _words(
    """
    run execute launch start rerun invoke
    führe starte lass lasse
    ejecuta ejecute corre corra lanza lance inicia arranca
    exécute exécutez lancez démarre démarrez
    executa rode roda inicie
    """
)
#: After "bitte" and the command, or after "veuillez".
_INFINITIVES = _words("ausführen starten exécuter lancer démarrer")
_POLITE = _words("bitte veuillez")
_BEFORE = _words(
    """
    , please now then first next ok okay go ahead and just
    bitte jetzt dann zuerst nun
    por favor ahora luego primero entonces
    s'il te vous plaît maintenant puis d'abord ensuite veuillez
    agora depois primeiro então
    """
)
_BETWEEN = _words(
    """
    : the this following command please
    den das diesen dieses folgenden folgendes befehl kommando bitte jetzt mal
    el este siguiente comando
    la le cette commande suivante
    o seguinte
    """
)
_AFTER = _words(
    """
    , now please again once here for me in the terminal shell
    aus laufen jetzt bitte mal einmal noch erneut hier für mich im
    ahora por favor de nuevo otra vez una aquí para mí en la terminal
    maintenant s'il te vous plaît encore fois à nouveau ici pour moi dans le
    agora novamente novo outra uma aqui mim
    """
)
_AND = _words(", and then und dann danach y luego después et puis ensuite e depois")
#: What may be asked for after the command ran.
_THEN = _words(
    """
    fix show tell report explain summarize summarise describe list print commit
    zeig zeige sag sage erkläre berichte behebe repariere
    muestra muéstrame dime explica corrige arregla
    montre montre-moi dis dis-moi explique répare
    mostre mostra diga diz corrija conserte
    """
)
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
    found: set[str] = set()
    for sentence in sentences:
        ordered = _order(sentence)
        if not ordered:
            break
        found.update(commands[int(mark[1:])] for mark in ordered)
    return frozenset(found)


def _is_doubt(word: str) -> bool:
    return word in _DOUBTS or (not word.startswith("s'il") and _ELIDED.search(word) is not None)


def _order(words: list[str]) -> list[str]:
    """The marks of the commands that this sentence orders; none if it is anything but an order."""
    rest = _skip(words, _BEFORE)
    polite = not _POLITE.isdisjoint(words[: len(words) - len(rest)])
    if polite and len(rest) >= 2 and rest[0][0] == _MARK and rest[1] in _INFINITIVES:
        marks, rest = rest[:1], rest[2:]
    elif rest and (rest[0] in _VERBS or (polite and rest[0] in _INFINITIVES)):
        marks, rest = _marks(rest[1:])
    else:
        return []
    rest = _skip(rest, _AFTER)
    after = _skip(rest, _AND)
    done = not rest or (len(after) < len(rest) and after and after[0] in _THEN)
    stray = any(word[0] == _MARK for word in rest)
    return marks if done and not stray else []


def _marks(words: list[str]) -> tuple[list[str], list[str]]:
    """One command or several with "and" between them, and the words after them."""
    marks: list[str] = []
    rest = _skip(words, _BETWEEN)
    while rest and rest[0][0] == _MARK:
        marks.append(rest[0])
        rest = rest[1:]
        following = _skip(rest, _AND)
        if following and following[0] in _VERBS:
            following = _skip(following[1:], _BETWEEN)
        if len(following) == len(rest) or not following or following[0][0] != _MARK:
            break
        rest = following
    return marks, (rest if marks else ["?"])


def _skip(words: list[str], known: Iterable[str]) -> list[str]:
    place = 0
    while place < len(words) and words[place] in known:
        place += 1
    return words[place:]
