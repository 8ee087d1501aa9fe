"""The application that gunicorn serves: settings from the environment, the store by its URL."""

from service import create_app
from service.cluster import reach
from service.settings import Settings, SettingsError
from service.store import Store

_settings = Settings.read()
if _settings.redis_url is None:
    raise SettingsError("REDIS_URL is not set; `python -m service` starts a store of its own.")
_store = Store(reach(_settings.redis_url), _settings.store_profile, unchecked=_settings.store_unchecked)
app = create_app(_settings, _store)
