"""Settings: errors that name the line, and choices written to the user's file."""

import stat
from pathlib import Path

import pytest

from sidecar.config.settings import ModelSettings, Settings, SettingsError, describe_settings, edit_toml, load

FILE = Path("config.toml")


def chosen(file: Path, **environ: str) -> ModelSettings:
    return ModelSettings(load(environ, file), file, environ)


def test_a_choice_is_written_and_read_again_at_once(tmp_path: Path) -> None:
    file = tmp_path / "new" / "config.toml"
    choices = chosen(file)
    assert choices.model("smart") == ""
    choices.write({"model_smart": "groq/openai/gpt-oss-20b"})
    assert choices.model("smart") == "groq/openai/gpt-oss-20b"
    assert load({}, file).model_smart == "groq/openai/gpt-oss-20b"


def test_what_somebody_else_writes_into_the_file_holds_too(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    choices = chosen(file)
    file.write_text('model_fast = "offline/basic"\nopenai_base_url = "http://127.0.0.1:1/v1"\n')
    assert choices.model("fast") == "offline/basic"
    assert choices.served_at("openai") == "http://127.0.0.1:1/v1"
    assert choices.served_at("groq") is None
    file.unlink()
    assert choices.model("fast") == ""


def test_a_file_that_has_become_unreadable_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('model_fast = "offline/basic"\n')
    choices = chosen(file)
    file.write_text("model_fast = ")
    assert choices.model("fast") == "offline/basic"
    with pytest.raises(SettingsError, match="Nothing was changed"):
        choices.write({"model_fast": "groq/x"})
    assert file.read_text() == "model_fast = "


def test_the_environment_wins_and_that_is_said(tmp_path: Path) -> None:
    choices = chosen(tmp_path / "config.toml", BRAIN_MODEL_FAST="offline/basic", OPENAI_BASE_URL="http://127.0.0.1:1")
    choices.write({"model_fast": "groq/x"})
    assert choices.model("fast") == "offline/basic"
    assert choices.overruled("model_fast") == "BRAIN_MODEL_FAST"
    assert choices.overruled("openai_base_url") == "OPENAI_BASE_URL"
    assert choices.overruled("model_smart") is None


def test_everything_else_in_the_file_stays_as_it_was() -> None:
    text = '# mine\nmax_tasks = 8  # many\n  model_smart = "a/b"\n\n# the end'
    changed = edit_toml(text, {"model_smart": 'gro"q/ü', "model_fast": "x/y"}, FILE)
    assert changed == '# mine\nmax_tasks = 8  # many\nmodel_smart = "gro\\"q/ü"\n\n# the end\nmodel_fast = "x/y"\n'
    assert (
        edit_toml(changed, {"model_smart": "", "model_fast": ""}, FILE)
        == "# mine\nmax_tasks = 8  # many\n\n# the end\n"
    )


@pytest.mark.parametrize("text", ['model_smart = """\na\n"""\n', '"model_smart" = "a"\n', '[table]\nx = "y"\n'])
def test_a_file_that_a_line_cannot_change_is_left_alone(text: str) -> None:
    with pytest.raises(SettingsError, match="yourself: model_smart"):
        edit_toml(text, {"model_smart": "b"}, FILE)


def test_a_link_stays_a_link_and_the_mode_stays(tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles.toml"
    kept.write_text("max_tasks = 2\n")
    kept.chmod(0o644)
    file = tmp_path / "config.toml"
    file.symlink_to(kept)
    chosen(file).write({"model_fast": "offline/basic"})
    assert file.is_symlink()
    assert kept.read_text() == 'max_tasks = 2\nmodel_fast = "offline/basic"\n'
    assert stat.S_IMODE(kept.stat().st_mode) == 0o644


def test_without_a_file_the_settings_hold() -> None:
    assert ModelSettings(Settings(model_fast="a/b")).model("fast") == "a/b"


def test_an_unknown_setting_is_reported_with_its_line_and_the_nearest_name(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("# mine\nmax_taks = 8\n")
    with pytest.raises(SettingsError) as caught:
        load({}, file)
    assert str(caught.value) == f"{file}:2: unknown setting `max_taks`; did you mean `max_tasks`?"


def test_a_bad_value_is_reported_where_it_comes_from(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("max_tasks = 0\n")
    with pytest.raises(SettingsError, match=r"config\.toml:1: `max_tasks`: input should be greater"):
        load({}, file)
    with pytest.raises(SettingsError, match=r"^BRAIN_MAX_TASKS: `max_tasks`: input should be a valid integer"):
        load({"BRAIN_MAX_TASKS": "many"}, file)


def test_every_setting_is_described_as_data() -> None:
    described = {each.name: each for each in describe_settings()}
    assert described.keys() == Settings.model_fields.keys()
    assert described["max_tasks"][1:5] == ("BRAIN_MAX_TASKS", "int", 4, "≥ 1, ≤ 64")
    assert described["sandbox"].type == '"auto" or "off" or "copy" or "container" or "e2b"'
    assert all(each.description and not each.description.endswith(".") for each in described.values())


def test_a_file_that_changes_or_breaks_while_the_sidecar_runs_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    choices = chosen(file)
    assert choices.notice() == ""
    file.write_text('model_fast = "offline/basic"\n')
    assert choices.notice() == ""  # applies at once
    file.write_text("max_tasks = 3\n")
    assert choices.notice() == f"{file} changed; max_tasks applies after a restart (`brain stop`)."
    file.write_text("max_tasks = many tasks\n")
    assert choices.notice().startswith(f"Can't read {file}")
    assert "stay in force" in choices.notice()
    assert choices.model("fast") == ""
    file.unlink()
    assert choices.notice() == ""
