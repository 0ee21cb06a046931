"""Markdown's emphasis in a terminal's own terms; where there are no colours, the text stays as it was written."""

import re

from sidecar.commands.style import Style

_BOLD = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
_CODE = re.compile(r"`([^`]+)`")
_HEADING = re.compile(r"^(\s*)#{1,6} (.+)$")
_RULE = re.compile(r"^\s*\|[\s:|-]+\|$")


def emphasised(line: str, style: Style) -> str:
    """One line that is no code, as it stands on the screen."""
    if not style.colours:
        return line
    if heading := _HEADING.match(line):
        return heading[1] + style.bold(heading[2].replace("**", "").replace("`", ""))
    if _RULE.match(line):
        return style.dim(line)
    parts = []
    end = 0
    for found in _BOLD.finditer(line):
        parts += [_coded(line[end : found.start()], style), style.bold(found[1].replace("`", ""))]
        end = found.end()
    return "".join([*parts, _coded(line[end:], style)])


def _coded(text: str, style: Style) -> str:
    return _CODE.sub(lambda found: style.cyan(found[1]), text)
