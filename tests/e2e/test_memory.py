"""The memory over HTTP: search, impact, what agents propose, and research without a language model."""

from tests.e2e.support import RunningSidecar

FILES = {
    "shop/tax.py": "def with_tax(amount):\n    return amount * 1.19\n",
    "shop/prices.py": (
        "from shop.tax import with_tax\n\n\ndef discounted_price(price):\n    return with_tax(price * 0.9)\n"
    ),
}
STANDARD = {"collection": "standards", "title": "errors", "text": "Say what to do next."}


def test_search_impact_and_research_answer_from_the_workspace(sidecar: RunningSidecar) -> None:
    write(sidecar)
    place = str(sidecar.workspace)
    found = sidecar.post("/api/brain/memory/search", {"workspace": place, "query": "discounted price", "days": 9}).json
    assert found["state"] == "ready"
    assert (found["hits"][0]["path"], found["hits"][0]["symbol"]) == ("shop/prices.py", "discounted_price")
    impact = sidecar.post("/api/brain/memory/impact", {"workspace": place, "path": "shop/tax.py"}).json
    (hit,) = impact["hits"]
    assert (hit["path"], hit["distance"], hit["through"]) == ("shop/prices.py", 1, "shop/tax.py")
    assert impact["imports"] == []
    assert "symbol" not in hit, "known only where the question is about a symbol"
    done = sidecar.wait_for_end(sidecar.execute("/research how is the discounted price computed?"))
    assert (done["status"], done["intent"], done["pipeline"]) == ("completed", "research", ["researcher"]), done
    assert done["result"]["sources"][0]["path"] == "shop/prices.py"
    assert done["result"]["sources"][0]["lines"] == "4-5"
    assert "can't reason" in done["result"]["answer"]
    tools = [event["tool"] for event in sidecar.events(done["id"]) if event["type"] == "tool"]
    assert {"find_code", "read_file", "impact"} <= set(tools), "what it looks at is streamed"


def test_a_proposed_standard_is_written_when_a_user_accepts_it(sidecar: RunningSidecar) -> None:
    write(sidecar)
    place, target = str(sidecar.workspace), sidecar.workspace / ".brain/standards/errors.md"
    models = sidecar.script(
        "proposes", [{"calls": [{"tool": "propose_note", "args": STANDARD}]}, {"text": "I proposed a standard."}]
    )
    done = sidecar.wait_for_end(sidecar.execute("explain our errors", models=models, intent="explain_code"))
    assert done["status"] == "completed", done
    (note,) = sidecar.get(f"/api/brain/memory/notes?workspace={place}").json["notes"]
    assert (note["collection"], note["state"]) == ("standards", "proposed")
    assert "+Say what to do next." in note["diff"]
    assert not target.exists()
    decision = {"id": note["id"], "accept": True}
    assert sidecar.post("/api/brain/memory/notes/decide", decision).status == 200
    assert target.read_text() == "Say what to do next.\n"
    assert sidecar.get(f"/api/brain/memory/notes?workspace={place}").json["notes"] == []
    assert sidecar.post("/api/brain/memory/notes/decide", decision).status == 404


def write(sidecar: RunningSidecar) -> None:
    for name, text in FILES.items():
        (sidecar.workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (sidecar.workspace / name).write_text(text)
