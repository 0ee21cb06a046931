"""Whether a report says that something was changed, in the languages that requests come in."""

import re

from sidecar.verify.prose import find_doubt, sentences

_DONE = (
    # English
    r"done|fixed|added|changed|updated|implemented|renamed|removed|replaced|refactored|rewrote|rewritten|created|"
    r"corrected|patched|moved|extended|adjusted|modified|edited|"
    # German
    r"erledigt|behoben|geändert|ergänzt|hinzugefügt|umbenannt|entfernt|ersetzt|korrigiert|angepasst|umgesetzt|eingebaut|"
    # Spanish and Portuguese
    r"hecho|corregido|corregí|añadido|añadí|cambiado|cambié|actualizado|renombrado|eliminado|implementado|"
    r"feito|corrigido|corrigi|adicionado|adicionei|alterado|alterei|atualizado|renomeado|removido|"
    # French
    r"fait|corrigé|ajouté|modifié|changé|renommé|supprimé|remplacé|implémenté"
)
_AUXILIARY = (
    r"i|we|i've|we've|i have|we have|(?:is|are|was|were|been|has been|have been)|"
    r"(?:ich|wir) (?:habe|haben)|(?:wurde|wurden|ist|sind)|he|hemos|j'ai|nous avons|a été|ont été|eu|foi|foram"
)
_CLAIM = re.compile(
    rf"^[\s*_#>✓✅-]*(?:c'est )?(?:{_DONE})\b|\b(?:{_AUXILIARY})\s+(?:\w+\s+){{0,2}}?(?:{_DONE})\b"
    # German puts the verb last.
    rf"|\b(?:ich|wir) (?:habe|haben)\b[^.;]{{1,80}}\b(?:{_DONE})\b",
    re.IGNORECASE,
)
#: Code in a line says nothing about the work.
_CODE = re.compile(r"`[^`\n]{1,300}`")
#: Words that turn it into a statement about what was there before, or what is not; English ones are in `find_doubt`.
_ELSEWHERE = re.compile(
    r"\b(?:since|in version|previously|earlier|upstream|nicht|kein\w*|nichts|bereits|schon|ya|nada|ningún|déjà|"
    r"rien|pas|aucun\w*|já|não|nenhum\w*)\b|\bno se\b",
    re.IGNORECASE,
)


#: A report of fewer words, such as "Done.", names nothing: what it claims is what was asked for.
_FEWEST_WORDS = 4


def find_claim(report: str, *, asked: bool) -> str:
    """The first sentence that says that something was changed; empty if none does.

    `asked`: the request undoubtedly asks for a change.
    """
    if not asked and len(report.split()) < _FEWEST_WORDS:
        return ""
    for sentence in sentences(_CODE.sub("`…`", report)):
        match = _CLAIM.search(sentence)
        if match and match.end() <= find_doubt(sentence) and _ELSEWHERE.search(sentence) is None:
            return sentence.strip()
    return ""


#: A report that says that nothing changed, or that nothing had to.
_ADMITS = re.compile(
    r"\b(?:nothing|unchanged|already|no (?:file|code|change|edit)s?|not (?:\w+ ){0,2}?(?:chang|edit|modif|touch)\w*|"
    r"nichts|kein\w*|bereits|schon|nada|ningún|ya|rien|aucun\w*|déjà|já|nenhum\w*)\b|n't (?:chang|edit|modif|touch)",
    re.IGNORECASE,
)


def admits_nothing(report: str) -> bool:
    return _ADMITS.search(report) is not None
