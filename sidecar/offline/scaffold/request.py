"""Parses a sentence into the project it asks for. It doesn't guess."""

import re
from dataclasses import dataclass
from functools import cache

from sidecar.offline.scaffold.kinds import list_kinds, load_kinds

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
#: Verbs that always ask for something new, unlike “build the app” and “start my server”.
_CREATING = re.compile(r"create|scaffold|bootstrap|generate|new|init|give|i\b", re.IGNORECASE)
_CLI = (
    r"(?:cli|command[\s-]line|console|terminal)"
    r"(?:\s+(?:tool|app|application|program|utility|interface|project|package))?"
)
_WEB = r"(?:(?:rest|web|json|http)\s+)?(?:api|app|application|service|server|backend|microservice|project)"
#: The names of each kind.
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
#: Projects without a template.
_OTHER = re.compile(
    r"(?:[\w.+#-]+\s+){0,4}?(?:project|app|application|game|website|web\s?site|site|api|server|service|microservice|"
    r"library|package|crate|gem|cli|command[\s-]line\s+\w+|tool|bot|dashboard|blog|shop|extension|plugin|backend|frontend|"
    r"engine|platform|simulator)(?=\s*(?:$|[,.:;])|\s+(?:that|which|where|to|for|in|with|using|called|named|from|on|and|of|"
    r"by|here|as|about)\b)",
    re.IGNORECASE,
)
#: Parts of a project: not a request for a project, even if it names one.
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
    r"[,\s]*(?:(?P<joint>that|which|to|for)\s+(?P<what>\S.*)|[:–—-]\s+(?P<described>\S.*))$", re.IGNORECASE
)
#: Features that every project has anyway, and those of each kind.
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
class ProjectRequest:
    """The requested project, in your words; `refusal` says why it can't be made."""

    kind: str = ""
    name: str = ""
    purpose: str = ""
    folder: str = ""
    refusal: str = ""


def parse_request(words: str) -> ProjectRequest | None:
    """The requested project; None if the sentence is about something else."""
    lead = _LEAD.match(words)
    if lead is None:
        return None
    which = (lead["which"] or "").lower()
    is_new = which in ("a", "an", "another") or bool(lead["plain"]) or lead["verb"].lower() == "new"
    if not is_new and (which == "this" or not _CREATING.match(lead["verb"])):
        return None
    rest = words[lead.end() :]
    own = next((key for key, kind in load_kinds().items() if kind.own and _begins(rest, kind.said)), None)
    if own is not None:
        return _read(own, rest[len(load_kinds()[own].said) :])
    kind = _KIND.match(rest)
    if kind is None or kind.lastgroup is None:
        return _another(rest) if is_new else None
    return _read(kind.lastgroup, rest[kind.end() :])


def _begins(rest: str, said: str) -> bool:
    return rest[: len(said)].lower() == said and not re.match(r"[\w-]", rest[len(said) :])


def _another(rest: str) -> ProjectRequest | None:
    """Refuse a project that has no template."""
    what = _OTHER.match(rest)
    if what is None or _PIECE.match(rest):
        return None
    refusal = f"There is no template for “{' '.join(what[0].split())}”. The offline model can make: {list_kinds()}."
    return ProjectRequest(refusal=refusal)


def _read(kind: str, rest: str) -> ProjectRequest | None:
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
        elif purposed := _PURPOSE.match(rest):
            if not name and (last := _CALLED_LAST.search(rest)):
                # “… for my job, called jobkit”
                name, rest = _quoted(last), rest[: last.start()]
                continue
            purpose, folder, rest = *_purpose(purposed, folder), ""
        else:
            return _too_much(kind, rest)
    if ".." in folder.split("/"):
        return ProjectRequest(refusal=f"`{folder}` is outside the workspace; the offline model writes nothing there.")
    if not name and (whom := _FOR_WHOM.match(purpose)):
        name = whom[1]
    return ProjectRequest(kind, name, purpose, folder)


@cache
def _has_anyway(kind: str) -> re.Pattern[str]:
    layers = ("python" if load_kinds()[kind].python else kind, kind)
    words = "|".join([_HAS, *{_HAS_TOO[layer] for layer in layers if layer in _HAS_TOO}])
    thing = rf"(?:(?:a|an|some|unit|the|its|proper|plain)\s+)*(?:{words})(?![\w-])"
    return re.compile(
        rf"[,\s]*(?:with|including|using|and|in)\s+{thing}(?:\s*(?:,\s*and|,|and|\+|&)\s*{thing})*", re.IGNORECASE
    )


def _quoted(found: re.Match[str]) -> str:
    return next(each for each in found.group("tick", "double", "curly", "single", "bare") if each)


def _is_place(place: re.Match[str]) -> bool:
    """“in libs/x” and “in the folder x” are places; “in python” is not."""
    return bool(place["here"] or place["folder"] or place["after"] or "/" in place["path"] or place["path"] == ".")


def _tidy(path: str) -> str:
    return path.strip("/").removeprefix("./") or "."


def _purpose(found: re.Match[str], folder: str) -> tuple[str, str]:
    what = found["what"] or found["described"]
    # “… that counts words in libs/counter”
    if not folder and (
        last := re.search(r"\s+(?:in|into|under|inside)\s+[`\"']?([\w@.-]+/[\w@./-]*)[`\"']?\s*$", what)
    ):
        what, folder = what[: last.start()], _tidy(last[1])
    what = re.split(r"(?<=[.!?])\s", what)[0].rstrip(" .!?,;")
    plain = " ".join("".join(each for each in what if each.isprintable()).split())
    plain = plain.replace("\\", "/").replace('"', "'").replace("`", "'").replace("{", "(").replace("}", ")")
    joint = found["joint"].lower() if found["joint"] else ":"
    return f"{joint} {plain}"[:_LONG].rstrip(), folder


def _too_much(kind: str, rest: str) -> ProjectRequest:
    said = load_kinds()[kind].said
    refusal = (
        f"The template “{said}” doesn't cover “{' '.join(rest.split())[:80]}”, and the offline model writes no code of "
        f"its own. Leave it out, as in “create a {said} called my-{said.split()[-1]}”, or configure a language model."
    )
    return ProjectRequest(refusal=refusal)
