"""How gunicorn serves Croupier, on a laptop and in production alike; addresses and sizes come from the settings."""

import os
import shutil
import sys

from prometheus_client.multiprocess import mark_process_dead

from service.metrics import DIRECTORY
from service.server import JsonLogger, Worker
from service.settings import Settings

_settings = Settings.read()

wsgi_app = "service.wsgi:app"
bind = _settings.address
proc_name = "croupier"

worker_class = Worker
workers = _settings.workers
# A thread for each stream; of the others as many may wait for a slow client or for their turn as are at work.
threads = _settings.streams + 2 * _settings.threads
# A connection that is kept open between requests holds no thread, and a proxy keeps many.
worker_connections = 1000 + threads
keepalive = 20
# A worker whose main thread says nothing for so long is hung; a stream keeps a thread busy, never that one.
timeout = 30
# Requests are bounded at two seconds, and streams end when they see that their worker stops.
graceful_timeout = 8
# The heartbeat must not wait for a disk.
_MEMORY = "/dev/shm"  # noqa: S108 - a directory of the kernel's, for files without names
worker_tmp_dir = _MEMORY if os.access(_MEMORY, os.W_OK) else None

# The parser in C where it could be installed, else gunicorn's own.
http_parser = "auto"
limit_request_line = 2048
limit_request_fields = 64
limit_request_field_size = 4096
# Nobody sets what the application takes for its mount point. X-Forwarded-Proto is believed of a proxy on this machine,
# or of those that FORWARDED_ALLOW_IPS names.
forwarder_headers = ""

# gunicorn would open it in the home directory, where every instance of this user shares it.
control_socket_disable = True

logger_class = JsonLogger
loglevel = _settings.log_level.lower()
# The service logs its requests itself, without tokens.
accesslog = None


def when_ready(_arbiter: object) -> None:
    """Tell a person at a terminal where to look; a log has gunicorn's own line."""
    if sys.stderr.isatty():
        print(f"croupier: serving http://{_settings.address}/v1/games until ctrl-C", file=sys.stderr)  # noqa: T201


def child_exit(_arbiter: object, worker: Worker) -> None:
    """Count the streams of a worker that has ended no more; what it had counted up stays."""
    if DIRECTORY in os.environ:
        mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]


def on_exit(_arbiter: object) -> None:
    """Remove what the workers counted in."""
    shutil.rmtree(os.environ.get(DIRECTORY, ""), ignore_errors=True)
