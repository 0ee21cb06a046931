"""Reads what `read_directory_tree` draws: a name a line, two spaces for every folder that it is in."""


def paths(drawn: str) -> list[str]:
    found: list[str] = []
    folders: list[str] = []
    for line in drawn.splitlines():
        name = line.lstrip(" ")
        if name.startswith("…"):
            continue
        del folders[(len(line) - len(name)) // 2 :]
        folder, slash, _ = name.partition("/")
        if slash:
            folders.append(folder)
        else:
            found.append("/".join([*folders, name]))
    return found
