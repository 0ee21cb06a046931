"""A notebook as its cells, without the noise around them."""

import json

_OUTPUT = 2_000


def cells(path: str, content: bytes) -> str | None:
    """The cells in order, or nothing if it is not a notebook after all."""
    try:
        notebook = json.loads(content)
        found = notebook["cells"]
        parts = [f"{path}: {len(found)} cells"]
        for number, cell in enumerate(found, 1):
            parts.append(f"── cell {number} ({cell['cell_type']})")
            parts.append("".join(cell.get("source", "")).rstrip("\n"))
            for output in cell.get("outputs", ()):
                if text := _text(output):
                    parts.append(f"→ {text[:_OUTPUT]}")
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return "\n".join(parts)


def _text(output: dict[str, object]) -> str:
    if "text" in output:
        return "".join(output["text"]).rstrip("\n")  # type: ignore[arg-type]
    data = output.get("data")
    if isinstance(data, dict):
        return "".join(data.get("text/plain", "")).rstrip("\n")
    return str(output.get("evalue", ""))
