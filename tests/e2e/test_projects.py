"""New projects as data: `GET /api/brain/templates` and `POST /api/brain/projects`."""

from pathlib import Path
from typing import Any

from tests.e2e.support import RunningSidecar, running_sidecar


def create(sidecar: RunningSidecar, key: str = "", **order: Any) -> Any:
    headers = {"Idempotency-Key": key} if key else {}
    return sidecar.post("/api/brain/projects", {"options": {"approvals": "auto"}, **order}, headers=headers)


def test_a_template_becomes_a_project_with_its_path_in_the_result(tmp_path: Path) -> None:
    with running_sidecar(tmp_path) as sidecar:
        names = [each["name"] for each in sidecar.get("/api/brain/templates").json["templates"]]
        assert "static site" in names and "python package" in names
        place = tmp_path / "projects"  # doesn't exist yet
        order = {"template": "static site", "name": "My Shop", "path": str(place), "description": "sells tea"}
        accepted = create(sidecar, key="one", **order)
        assert accepted.status == 202
        task = sidecar.wait_for_end(accepted.json["taskId"])
        assert task["status"] == "completed" and task["intent"] == "create_project"
        assert task["result"]["projectPath"] == str(place / "my-shop")
        assert task["result"]["success"] is True
        assert (place / "my-shop" / "site" / "index.html").is_file()
        assert "ells tea" in (place / "my-shop" / "README.md").read_text()
        assert create(sidecar, key="one", **order).json["taskId"] == accepted.json["taskId"]
        again = create(sidecar, template="static_site", name="my-shop", path=str(place))
        assert (again.status, again.json["code"]) == (409, "folder_taken")


def test_an_order_that_makes_no_sense_is_refused_and_a_name_stays_inside_its_directory(tmp_path: Path) -> None:
    orders = [
        ("no such thing", "x", "", "unknown_template"),
        ("python package", "json", "", "invalid_name"),
        ("python package", "...", "", "invalid_name"),
        ("python package", "x" * 60, "", "invalid_name"),
        ("python package", "x", "/no/such/place", "workspace_not_found"),
        ("python package", "x", "/nowhere", "workspace_not_found"),
        ("python package", "x", "not/absolute", "workspace_not_absolute"),
    ]
    with running_sidecar(tmp_path) as sidecar:
        for template, name, path, code in orders:
            refused = create(sidecar, template=template, name=name, **({"path": path} if path else {}))
            assert (refused.status, refused.json["code"]) == (422, code)
        inside = create(sidecar, template="python package", name="x", path=f"{sidecar.data_dir}/new")
        assert inside.json["code"] == "workspace_private" and not (sidecar.data_dir / "new").exists()
        (sidecar.workspace / "link").symlink_to(tmp_path)
        assert create(sidecar, template="static site", name="link").json["code"] == "folder_taken"
        stays = create(sidecar, template="static site", name="../../etc").json["taskId"]
        assert sidecar.task(stays)["workspace"] == f"{sidecar.workspace}/etc"


def test_a_folder_of_the_configuration_directory_is_a_template(tmp_path: Path) -> None:
    own = tmp_path / "config" / "rainy-brain" / "templates" / "flask-api"
    (own / "app").mkdir(parents=True)
    (own / "app" / "{{module}}.py.template").write_text('NAME = "{{name}}"  # {{unknown}}\n')
    (own / "README.md.template").write_text("# {{title}}\n")
    with running_sidecar(tmp_path, XDG_CONFIG_HOME=str(tmp_path / "config")) as sidecar:
        found = sidecar.get("/api/brain/templates").json["templates"]
        assert [each["files"] for each in found if each["own"]] == [["README.md", "app/{{module}}.py"]]
        accepted = create(sidecar, template="flask-api", name="tea-shop")
        assert accepted.status == 202, accepted.json
        task = sidecar.wait_for_end(accepted.json["taskId"])
        made = sidecar.workspace / "tea-shop"
        assert task["result"]["success"] is True, task
        assert (made / "app" / "tea_shop.py").read_text() == 'NAME = "tea-shop"  # {{unknown}}\n'
        assert (made / "README.md").read_text() == "# Tea shop\n"
