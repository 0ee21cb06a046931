"""From a sentence to the project that it asks for. What is not understood for certain is not guessed at."""

import re
from dataclasses import dataclass
from functools import cache

from sidecar.offline.scaffold.kinds import KINDS, offered

_MAKE = (
    r"(?:create|scaffold|make|set\s*up|start|begin|bootstrap|generate|init(?:iali[sz]e)?|build|write|spin\s+up|"
    r"give\s+me|i\s+(?:want|need)|i(?:'d|\s+would)\s+like|new)"
)
_PLAIN = r"(?:new|fresh|basic|simple|small|little|tiny|minimal|empty|plain|blank|modern|typed|working|clean)"
_LEAD = re.compile(
    rf"(?P<verb>{_MAKE})\s+(?:me\s+|us\s+)?(?:up\s+)?(?:(?P<which>a|an|another|the|my|our|this)\s+)?"
    rf"(?P<plain>(?:{_PLAIN},?\s+)*)",
    re.IGNORECASE,
)
#: These ask for something new, whatever follows; “build the app” and “start my server” do not.
_FOUNDING = re.compile(r"create|scaffold|bootstrap|generate|new|init|give|i\b", re.IGNORECASE)
_CLI = (
    r"(?:cli|command[\s-]line|console|terminal)"
    r"(?:\s+(?:tool|app|application|program|utility|interface|project|package))?"
)
_WEB = r"(?:(?:rest|web|json|http)\s+)?(?:api|app|application|service|server|backend|microservice|project)"
#: How each kind is said; what stands before or after it belongs to the rest of the sentence.
_SAID = {
    "python_cli": rf"python3?\s+{_CLI}|{_CLI}\s+(?:in|with|using)\s+python3?",
    "python_package": (
        r"python3?\s+(?:package|library|lib|project)|pip\s+package|"
        r"(?:package|library)\s+(?:in|with|using|for)\s+python3?"
    ),
    "starlette_api": rf"(?:python3?\s+)?starlette\s+{_WEB}|{_WEB}\s+(?:in|with|using|on)\s+starlette",
    "typescript_library": (
        r"(?:typescript|ts)\s+(?:(?:npm|node)\s+)?(?:library|lib|package|project)|"
        r"(?:npm\s+|node\s+)?(?:library|package)\s+(?:in|with|using)\s+typescript"
    ),
    "react_app": (
        r"(?:vite\s+(?:\+\s+)?)?react(?:\.?js)?\s+(?:(?:\+\s+)?(?:typescript|ts|web|single[\s-]page|vite)\s+)?"
        r"(?:app|application|project|frontend|front-end|web\s?app|spa|website|site)|"
        r"(?:web\s?|single[\s-]page\s+)?(?:app|application|frontend|spa)\s+(?:in|with|using)\s+react"
    ),
    "static_site": (
        r"static\s+(?:html\s+|web\s?)?(?:site|page|website)|(?:plain\s+)?html\s+(?:site|website|page)|"
        r"(?:website|site)\s+(?:in|with|of)\s+(?:plain\s+|static\s+)?html"
    ),
}
_KIND = re.compile(
    rf"(?:{'|'.join(f'(?P<{key}>{said})' for key, said in _SAID.items())})(?:\s+project)?(?![\w-])", re.IGNORECASE
)
#: What is a project, but perhaps not one of ours.
_OTHER = re.compile(
    r"(?:[\w.+#-]+\s+){0,4}?(?:project|app|application|game|website|web\s?site|site|api|server|service|microservice|"
    r"library|package|crate|gem|cli|command[\s-]line\s+\w+|tool|bot|dashboard|blog|shop|extension|plugin|backend|frontend|"
    r"engine|platform|simulator)(?=\s*(?:$|[,.:;])|\s+(?:that|which|where|to|for|in|with|using|called|named|from|on|and|of|"
    r"by|here|as|about)\b)",
    re.IGNORECASE,
)
#: A part of a project, or of an answer: not ours, even if a project is named beside it.
_PART = (
    r"(?:function|method|class|component|module|file|test|script|page|route|endpoint|readme|doc|docstring|commit|message|"
    r"changelog|constant|variable|type|interface|hook|dockerfile|makefile|import|field|command|call|client|request|"
    r"response|key|token|handler|button|form)s?\b"
)
_PIECE = re.compile(rf"(?:[\w-]+\s+){{0,3}}?{_PART}", re.IGNORECASE)
_PIECE_OF_IT = re.compile(rf"\s+{_PART}", re.IGNORECASE)
_WORD = r"[\w.@+-]*\w"
_QUOTED = r"`(?P<tick>[^`]{1,60})`|\"(?P<double>[^\"]{1,60})\"|“(?P<curly>[^”]{1,60})”|'(?P<single>[^']{1,60})'"
_CALLED = re.compile(
    rf"[,\s]*(?:(?:and\s+)?(?:called|named|titled)|(?:with\s+the\s+)?name[d:]*(?:\s+it)?|call(?:ed)?\s+it)\s+"
    rf"(?:{_QUOTED}|(?P<bare>{_WORD}(?:\s+(?!(?:that|which|to|for|in|into|under|inside|with|using|at|and|here)\b){_WORD}){{0,3}}))",
    re.IGNORECASE,
)
_CALLED_LAST = re.compile(rf"[,\s]+(?:called|named)\s+(?:{_QUOTED}|(?P<bare>{_WORD}))\s*$", re.IGNORECASE)
_PLACE = re.compile(
    r"[,\s]*(?:in|into|under|inside|at)\s+(?:"
    r"(?P<here>(?:this|the\s+current|my)\s+(?:folder|directory|workspace|project|repo(?:sitory)?)|the\s+workspace|here)|"
    r"(?:the\s+|a\s+)?(?:new\s+)?(?:(?P<folder>folder|directory)\s+)?(?:called\s+|named\s+)?[`\"']?"
    r"(?P<path>(?:\./)?[\w@.-]+(?:/[\w@.-]+)*/?)[`\"']?(?:\s+(?P<after>folder|directory))?)(?=[\s,.:;]|$)",
    re.IGNORECASE,
)
_HERE = re.compile(r"[,\s]*\b(?:right\s+)?here\b", re.IGNORECASE)
_NAMED = re.compile(rf"\s+(?:{_QUOTED}|(?P<bare>{_WORD}))(?=[\s,:]|$)", re.IGNORECASE)
_JOINTS = re.compile(
    r"that|which|to|for|in|into|under|inside|with|using|at|and|here|called|named|so|it|on|by|of|as", re.IGNORECASE
)
_PURPOSE = re.compile(
    r"[,\s]*(?:(?P<joint>that|which|to|for)\s+(?P<what>\S.*)|[:–—-]\s+(?P<told>\S.*))$", re.IGNORECASE
)
#: What every project has anyway, and what those of a kind have.
_HAS = r"tests?|readme|licen[cs]e|linter|linting|formatter|type\s+hints|types|docs|git\s?ignore"
_HAS_TOO = {
    "python": r"pytest|ruff|mypy|pyproject(?:\.toml)?|src\s+layout|argparse|uvicorn",
    "react_app": r"typescript|ts|vite|vitest|biome|testing\s+library|html|css",
    "typescript_library": r"biome|node:test|strict\s+mode",
    "static_site": r"html|css|html5|css3|prettier",
}
_FOR_WHOM = re.compile(r"^for\s+(?:my|our|the|a|an)\s+([\w-]+(?:\s+[\w-]+)?)$", re.IGNORECASE)
_LONG = 200


@dataclass(frozen=True, slots=True)
class Asked:
    """What the person asked for, in their words; `refusal` says why it is not done."""

    kind: str = ""
    name: str = ""
    purpose: str = ""
    folder: str = ""
    refusal: str = ""


def asked_for(words: str) -> Asked | None:
    """The project that is asked for; nothing if the sentence is about something else."""
    lead = _LEAD.match(words)
    if lead is None:
        return None
    which = (lead["which"] or "").lower()
    is_new = which in ("a", "an", "another") or bool(lead["plain"]) or lead["verb"].lower() == "new"
    if not is_new and (which == "this" or not _FOUNDING.match(lead["verb"])):
        return None
    rest = words[lead.end() :]
    kind = _KIND.match(rest)
    if kind is None or kind.lastgroup is None:
        return _another(rest) if is_new else None
    return _read(kind.lastgroup, rest[kind.end() :])


def _another(rest: str) -> Asked | None:
    """A project of a kind that there is no template for."""
    what = _OTHER.match(rest)
    if what is None or _PIECE.match(rest):
        return None
    refusal = (
        f"There is no template for “{' '.join(what[0].split())}”. Without a language model these can be made: "
        f"{offered()}."
    )
    return Asked(refusal=refusal)


def _read(kind: str, rest: str) -> Asked | None:
    if _PIECE_OF_IT.match(rest):
        return None
    name = purpose = folder = ""
    if (direct := _NAMED.match(rest)) and not (direct["bare"] and _JOINTS.fullmatch(direct["bare"])):
        name, rest = _quoted(direct), rest[direct.end() :]
    while rest.strip(" ,."):
        if not name and (called := _CALLED.match(rest)):
            name, rest = _quoted(called), rest[called.end() :]
        elif not folder and (place := _PLACE.match(rest)) and _is_place(place):
            folder, rest = "." if place["here"] else _tidy(place["path"]), rest[place.end() :]
        elif not folder and (here := _HERE.match(rest)):
            folder, rest = ".", rest[here.end() :]
        elif has := _has_anyway(kind).match(rest):
            rest = rest[has.end() :]
        elif told := _PURPOSE.match(rest):
            if not name and (last := _CALLED_LAST.search(rest)):
                # “… for my job, called jobkit”: the name comes last.
                name, rest = _quoted(last), rest[: last.start()]
                continue
            purpose, folder, rest = *_purpose(told, folder), ""
        else:
            return _too_much(kind, rest)
    if ".." in folder.split("/"):
        return Asked(refusal=f"`{folder}` is not in the workspace, and nothing is written outside of it.")
    if not name and (whom := _FOR_WHOM.match(purpose)):
        name = whom[1]
    return Asked(kind, name, purpose, folder)


@cache
def _has_anyway(kind: str) -> re.Pattern[str]:
    layers = ("python" if KINDS[kind].python else kind, kind)
    words = "|".join([_HAS, *{_HAS_TOO[layer] for layer in layers if layer in _HAS_TOO}])
    thing = rf"(?:(?:a|an|some|unit|the|its|proper|plain)\s+)*(?:{words})(?![\w-])"
    return re.compile(
        rf"[,\s]*(?:with|including|using|and|in)\s+{thing}(?:\s*(?:,\s*and|,|and|\+|&)\s*{thing})*", re.IGNORECASE
    )


def _quoted(found: re.Match[str]) -> str:
    return next(each for each in found.group("tick", "double", "curly", "single", "bare") if each)


def _is_place(place: re.Match[str]) -> bool:
    """“in libs/x” and “in the folder x” are places; “in python” and “in a hurry” are not."""
    return bool(place["here"] or place["folder"] or place["after"] or "/" in place["path"] or place["path"] == ".")


def _tidy(path: str) -> str:
    return path.strip("/").removeprefix("./") or "."


def _purpose(told: re.Match[str], folder: str) -> tuple[str, str]:
    what = told["what"] or told["told"]
    # “… that counts words in libs/counter”: the place comes last.
    if not folder and (
        last := re.search(r"\s+(?:in|into|under|inside)\s+[`\"']?([\w@.-]+/[\w@./-]*)[`\"']?\s*$", what)
    ):
        what, folder = what[: last.start()], _tidy(last[1])
    what = re.split(r"(?<=[.!?])\s", what)[0].rstrip(" .!?,;")
    plain = " ".join("".join(each for each in what if each.isprintable()).split())
    plain = plain.replace("\\", "/").replace('"', "'").replace("`", "'").replace("{", "(").replace("}", ")")
    joint = told["joint"].lower() if told["joint"] else ":"
    return f"{joint} {plain}"[:_LONG].rstrip(), folder


def _too_much(kind: str, rest: str) -> Asked:
    said = KINDS[kind].said
    refusal = (
        f"The template “{said}” knows nothing of “{' '.join(rest.split())[:80]}”, and the offline model writes no code "
        f"of its own. Say it without, such as “create a {said} called my-{said.split()[-1]}”, or configure a language "
        "model."
    )
    return Asked(refusal=refusal)
