"""Settings: read from the environment, refused with a sentence, never leaking a secret."""

from pathlib import Path

import pytest

from mnemon.errors import BadSettings
from mnemon.settings import Settings, described_settings, is_loopback, load_settings
from mnemon.settings.described import DescribedSetting

SECRET = "a-secret-that-nobody-should-ever-see-printed"


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("MNEMON_PORT", "many", "MNEMON_PORT does not accept 'many': give a whole number from 0 to 65535."),
        ("MNEMON_PORT", "70000", "MNEMON_PORT does not accept '70000': give a whole number from 0 to 65535."),
        ("LOG_LEVEL", "loud", "LOG_LEVEL does not accept 'loud': give DEBUG or INFO or WARNING or ERROR."),
        ("AUTH_ENABLED", "perhaps", "AUTH_ENABLED does not accept 'perhaps': give true or false."),
        ("WORKER_MAX_CONCURRENT_JOBS", "0", "WORKER_MAX_CONCURRENT_JOBS does not accept '0'"),
        ("MNEMON_PROT", "80", "MNEMON_PROT is not a setting: did you mean MNEMON_PORT?"),
        ("MNEMON_XYZZY", "80", "MNEMON_XYZZY is not a setting: `mnemon settings` lists them all."),
        ("MNEMON_PUBLIC_URL", "javascript:x", "MNEMON_PUBLIC_URL does not accept 'javascript:x': give an address like"),
        ("MNEMON_CORS_ORIGINS", "*", "give origins like https://app.example.org."),
        ("JWT_SECRET", "short", "MNEMON_JWT_SECRET is too short: give at least 32 characters"),
    ],
)
def test_a_bad_value_is_refused_with_the_variable_and_what_it_accepts(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, sentence: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(BadSettings) as refused:
        load_settings()
    assert sentence in refused.value.message


@pytest.mark.parametrize(
    ("name", "value", "field", "expected"),
    [
        ("JWT_SECRET", SECRET, "jwt_secret", SECRET),
        ("JWT_EXPIRY_HOURS", "2", "jwt_expiry_hours", 2),
        ("AUTH_ENABLED", "false", "auth_enabled", False),
        ("OPENAI_API_KEY", SECRET, "openai_api_key", SECRET),
        ("WORKER_MAX_CONCURRENT_JOBS", "7", "worker_slots", 7),
        ("WORKER_ID", "event-worker-1", "worker_id", "event-worker-1"),
        ("EVENT_MAX_ATTEMPTS", "7", "job_attempts", 7),
        ("MNEMON_MODEL_CALL_KEEP_DAYS", "7", "model_call_keep_days", 7),
        ("EVENTS_DB_DSN", "postgresql://h/d", "database_url", "postgresql://h/d"),
        ("DATABASE_URL", "postgresql://h/d", "database_url", "postgresql://h/d"),
        ("LOG_LEVEL", "error", "log_level", "ERROR"),
        ("MNEMON_CORS_ORIGINS", "https://a.org, https://b.org", "cors_origins", ("https://a.org", "https://b.org")),
        ("MNEMON_HOME", "relative/place", "home", Path.cwd() / "relative" / "place"),
    ],
)
def test_the_names_of_the_specifications_work(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, field: str, expected: object
) -> None:
    monkeypatch.setenv(name, value)
    found = getattr(load_settings(), field)
    assert (found.get_secret_value() if hasattr(found, "get_secret_value") else found) == expected


LISTS = [one for one in described_settings() if isinstance(getattr(Settings(), one.field), tuple)]
FOLDERS = [one for one in described_settings() if one.accepts == "a folder"]


@pytest.mark.parametrize("setting", LISTS, ids=lambda one: str(one.field))
def test_a_list_is_written_with_commas(monkeypatch: pytest.MonkeyPatch, setting: DescribedSetting) -> None:
    monkeypatch.setenv(setting.names[0], "https://one.example.org, https://two.example.org,")
    assert getattr(load_settings(), setting.field) == ("https://one.example.org", "https://two.example.org")


@pytest.mark.parametrize("setting", FOLDERS, ids=lambda one: str(one.field))
def test_a_folder_may_begin_with_the_home_of_the_user(
    monkeypatch: pytest.MonkeyPatch, setting: DescribedSetting
) -> None:
    monkeypatch.setenv(setting.names[0], "~/some/folder")
    assert getattr(load_settings(), setting.field) == Path.home() / "some" / "folder"


def test_lists_and_folders_are_among_the_settings() -> None:
    assert {one.field for one in LISTS} >= {"source_folders", "watch_folders", "worker_urls", "trusted_proxies"}
    assert {one.field for one in FOLDERS} >= {"home", "upload_store_path", "embedder_folder", "archive_folder"}


def test_our_own_name_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOG_LEVEL", "ERROR")
    monkeypatch.setenv("MNEMON_LOG_LEVEL", "DEBUG")
    assert load_settings().log_level == "DEBUG"


def test_a_dot_env_file_is_read_and_the_environment_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("MNEMON_PORT=1234\nJWT_EXPIRY_HOURS=3\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(Settings.model_config, "env_file", ".env")
    monkeypatch.setenv("MNEMON_PORT", "4321")
    settings = load_settings()
    assert (settings.port, settings.jwt_expiry_hours) == (4321, 3)


def test_no_secret_is_ever_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    for setting in described_settings():
        if setting.secret:
            monkeypatch.setenv(setting.names[0], SECRET)
    settings = load_settings()
    assert SECRET not in repr(settings) + str(settings) + settings.model_dump_json()


def test_without_authentication_only_loopback_is_served() -> None:
    with pytest.raises(BadSettings, match=r"needs a loopback MNEMON_HOST .* not '0.0.0.0'"):
        load_settings(auth_enabled=False, host="0.0.0.0")
    for host in ("127.0.0.1", "::1", "localhost", "127.8.8.8"):
        assert load_settings(auth_enabled=False, host=host).host == host
        assert is_loopback(host)
    assert not is_loopback("example.org")


def test_every_setting_says_what_it_means() -> None:
    assert all(len(setting.meaning) > 10 and setting.accepts for setting in described_settings())
    assert len(list(described_settings())) == len(Settings.model_fields)


def test_an_unknown_name_in_a_dot_env_file_stops_the_start_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(Settings.model_config, "env_file", ".env")
    (tmp_path / ".env").write_text("MNEMON_PROT=80\nOTHER_PROGRAM=1\n")
    with pytest.raises(BadSettings, match="did you mean MNEMON_PORT"):
        load_settings()
    (tmp_path / ".env").write_bytes(b"\xff\xfe")
    with pytest.raises(BadSettings, match="not UTF-8"):
        load_settings()


def test_a_token_for_agents_is_read_from_the_environment_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MNEMON_TOKEN", "mnm_1")
    load_settings()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(Settings.model_config, "env_file", ".env")
    (tmp_path / ".env").write_text("MNEMON_TOKEN=mnm_1\n")
    with pytest.raises(BadSettings, match="MNEMON_TOKEN is not a setting"):
        load_settings()
