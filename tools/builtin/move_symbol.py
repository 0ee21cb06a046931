from typing import Annotated

from pydantic import Field

from sidecar.wire.text import listed, plural
from tools.changes import render_changes
from tools.code.codebase import Codebase
from tools.code.move import plan_move
from tools.host import FileChange, Host
from tools.spec import Arguments, Call, PreparedChange, ToolSpec
from tools.text_files import read_existing


class MoveSymbolArguments(Arguments):
    symbol: Annotated[str, Field(min_length=1, max_length=200)]
    from_: Annotated[str, Field(alias="from")]
    to: str

    def paths(self) -> tuple[str, ...]:
        return (".", self.from_, self.to)


class MoveSymbol:
    spec = ToolSpec(
        name="move_symbol",
        description=(
            "Move a function, class or constant to another file with the imports it needs, and update the imports of "
            "its users (Python, TypeScript, JavaScript)."
        ),
        arguments=MoveSymbolArguments,
        executor="hybrid",
        effects="files",
    )

    async def prepare(self, args: MoveSymbolArguments, host: Host, call: Call) -> PreparedChange:
        source, target = args.from_, args.to
        await host.stat(source)
        there = await read_existing(host, target) is not None
        base = await Codebase.with_words([args.symbol], host, call, [source, *([target] if there else [])])
        await base.read_texts([args.symbol])
        done = await base.ask(lambda project: plan_move(args.symbol, source, target, project, base.texts))
        changes = tuple(
            FileChange(path, base.contents.get(path), content)
            for path, content in sorted(done.contents.items())
            if content != base.contents.get(path)
        )
        users = f" Imports updated in {', '.join(done.users[:20])}." if done.users else " No other file imports it."
        more = f" And in {plural(len(done.users) - 20, 'more file')}." if len(done.users) > 20 else ""
        note = f"Moved {done.kind} {args.symbol} ({source}:{done.line}) to {target}.{users}{more}"
        if done.kept_for:
            note += f" {source} imports it, too: {listed(done.kept_for, 5)}."
        broken = [path for path in sorted(base.project.skipped) if path in base.matches]
        left = [f"Left alone: {path}, {base.project.skipped[path]}." for path in broken[:20]]
        result = render_changes(changes, "\n".join([note, *left, ""]))
        return PreparedChange(changes, result._replace(summary=note[:200]))
