"""F14: names and contents that are not UTF-8, CRLF, BOM: byte by byte the same, and JSON always valid."""

import json
import os
from pathlib import Path

import pytest

from tests.support.workbench import workbench
from tools.local.root import name_to_text, text_to_name

NAMES = [b"caf\xe9.txt", b"\xff\xfe", "naïve ✓.txt".encode(), b"nl\nname", "\uef80.txt".encode(), b"tab\tname", b"-rf"]


@pytest.mark.parametrize("name", NAMES)
def test_f14_every_name_has_one_text_and_comes_back(name: bytes) -> None:
    text = name_to_text(os.fsdecode(name))

    json.dumps(text, ensure_ascii=False).encode()
    assert os.fsencode(text_to_name(text)) == name


@pytest.mark.parametrize("name", NAMES)
async def test_f14_a_file_with_a_strange_name_is_listed_read_edited_and_deleted(tmp_path: Path, name: bytes) -> None:
    async with workbench(tmp_path) as bench:
        place = bench.workspace / os.fsdecode(name)
        place.write_bytes(b"one\r\ntwo\r\n")
        listed = await bench.call("list_dir")
        assert isinstance(listed.details, dict)
        path = listed.details["entries"][0]["path"]  # type: ignore[index, call-overload]

        assert "two" in (await bench.call("read_file", path=path)).content
        assert (await bench.call("edit_file", path=path, oldText="two", newText="three")).status == "success"
        assert place.read_bytes() == b"one\r\nthree\r\n"
        assert (await bench.call("delete_file", path=path)).status == "success"
        assert not place.exists()
        for event in bench.ledger.events:
            json.loads(event.to_json())


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfkey = old\r\n",
        b"caf\xe9 old\n",
        b"old \xf0\x9f\x98 cut off",
        b"\xff\xfe" + "old\r\nü".encode("utf-16-le"),
        b"old\rmac\rstyle",
        b"mixed\nold\r\nends\n",
    ],
)
async def test_f14_an_edit_and_its_reverse_give_the_same_bytes(tmp_path: Path, content: bytes) -> None:
    async with workbench(tmp_path) as bench:
        bench.write("a", content)
        assert (await bench.call("edit_file", path="a", oldText="old", newText="new words")).status == "success"
        assert bench.read("a") != content
        assert (await bench.call("edit_file", path="a", oldText="new words", newText="old")).status == "success"
        assert bench.read("a") == content


async def test_f14_output_that_is_no_text_is_still_valid_json(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        outcome = await bench.call("run_command", command=r"printf '\377\376\000ok\355\240\200'")

        json.loads(outcome.to_json())
        assert "ok" in outcome.content
