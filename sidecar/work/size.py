"""Whether a request is large enough for a plan of its own. A small one goes straight to the coder."""

import re

_CHARACTERS = 700
_ITEMS = 4
_ITEM = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+\S", re.MULTILINE)
_CODE = re.compile(r"```.*?(?:```|\Z)|^Traceback .*?^\S*(?:Error|Exception)\b.*?$", re.DOTALL | re.MULTILINE)
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


def is_large(request: str) -> bool:
    text = _CODE.sub(" ", request[:20_000])
    return len(text) > _CHARACTERS or len(_ITEM.findall(text)) >= _ITEMS or _BROAD.search(text) is not None
