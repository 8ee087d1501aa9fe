"""The settings, as an operator writes them."""

from pathlib import Path

import pytest

from service.settings import Settings, SettingsError


def test_an_empty_environment_gives_the_defaults() -> None:
    """Nothing has to be set, and no store is named."""
    settings = Settings.read({})
    assert settings == Settings()
    assert settings.address == "127.0.0.1:8080"
    assert settings.redis_url is None


def test_every_setting_is_read() -> None:
    """Each has the name that the documentation gives it."""
    settings = Settings.read(
        {
            "HOST": "::1",
            "PORT": "9000",
            "WORKERS": "4",
            "THREADS": "64",
            "REDIS_URL": "rediss://:secret@store:6380/1",
            "STORE_PROFILE": "durable",
            "STORE_UNCHECKED": "1",
            "VAR_DIR": "/srv/croupier",
            "LOG_LEVEL": "WARNING",
        }
    )
    assert settings.address == "[::1]:9000"
    assert (settings.workers, settings.threads, settings.log_level) == (4, 64, "WARNING")
    assert settings.redis_url == "rediss://:secret@store:6380/1"
    assert (settings.store_profile, settings.store_unchecked) == ("durable", True)
    assert settings.var_dir == Path("/srv/croupier")


def test_a_setting_that_is_empty_counts_as_unset() -> None:
    """A compose file passes on what is not set as nothing."""
    assert Settings.read({"REDIS_URL": "", "PORT": ""}) == Settings()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "http"),
        ("PORT", "0"),
        ("PORT", "65536"),
        ("WORKERS", "0"),
        ("THREADS", "-1"),
        ("LOG_LEVEL", "LOUD"),
        ("REDIS_URL", "http://store"),
        ("STORE_PROFILE", "safe"),
        ("STORE_UNCHECKED", "perhaps"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_in_one_line(name: str, value: str) -> None:
    """The message begins with the setting's name."""
    with pytest.raises(SettingsError, match=rf"^{name}: [^\n]+\.$"):
        Settings.read({name: value})


@pytest.mark.parametrize("kind", ["redis", "rediss", "unix", "redis+cluster", "rediss+cluster", "redis+sentinel"])
def test_a_store_may_be_of_several_kinds(kind: str) -> None:
    """Each has its own kind of URL."""
    assert Settings.read({"REDIS_URL": f"{kind}://store:6379"}).redis_url == f"{kind}://store:6379"


def test_a_refused_url_is_not_repeated() -> None:
    """The message has no password to leak."""
    with pytest.raises(SettingsError) as refused:
        Settings.read({"REDIS_URL": "http://:secret@store"})
    assert "secret" not in str(refused.value)
