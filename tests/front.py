"""nginx as it is delivered, in front of a service on this machine: addresses and certificate are a test's own."""

import json
import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Sequence
from functools import cache
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from threading import Thread
from typing import Self

from tests.contract import LiveClient
from tests.servers import ROOT, eventually, free_port

DELIVERED = ROOT / "deploy" / "nginx"


def installed(program: str, package: str) -> str:
    """Return where a program is, which is installed from the package first where it is missing."""
    path = f"{os.environ['PATH']}:/usr/sbin"
    if shutil.which(program, path=path) is None:
        for command in (["update", "-qq"], ["install", "--yes", "-qq", "--no-install-recommends", package]):
            waiting = ["apt-get", "-o", "DPkg::Lock::Timeout=300", *command]  # another test may be at it
            subprocess.run(waiting, check=True, stdout=subprocess.DEVNULL)
    found = shutil.which(program, path=path)
    assert found is not None, f"{program} is missing: install {package}"
    return found


@cache
def certificate(directory: Path) -> tuple[Path, Path]:
    """Make a certificate for this machine that nobody has signed but itself, as the documentation does."""
    crt, key = directory / "croupier.crt", directory / "croupier.key"
    new = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-days", "2"]
    name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    made = [installed("openssl", "openssl"), *new, *name, "-keyout", str(key), "-out", str(crt)]
    subprocess.run(made, check=True, capture_output=True)
    return crt, key


class Front:
    """nginx over the delivered configuration, its parts replaced where a fault is planted."""

    def __init__(self, directory: Path, upstreams: Sequence[int], replaced: tuple[str, str] | None = None) -> None:
        self.port, self.plain_port = free_port(), free_port()
        self._directory = directory
        shutil.copytree(DELIVERED, directory / "conf")
        self._write_site(upstreams)
        if replaced is not None:
            self._replace(*replaced)
        self.tls = ssl.create_default_context(cafile=certificate(directory.parent)[0])
        pid = f"daemon off; pid {directory}/nginx.pid;"
        command = [installed("nginx", "nginx"), "-p", str(directory), "-c", "conf/nginx.conf", "-g", pid]
        with (directory / "said").open("wb") as said:
            self._process = subprocess.Popen(command, stdout=said, stderr=said)

    def __enter__(self) -> Self:
        eventually(lambda: self._listens() or self._process.poll() is not None, "nginx listens or ends")
        assert self._process.poll() is None, self.said
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(30)

    @property
    def said(self) -> str:
        """Its own log."""
        return (self._directory / "said").read_text(encoding="utf-8")

    @property
    def logged(self) -> list[dict[str, str]]:
        """Its log of requests."""
        lines = (self._directory / "access.log").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def raw(self, address: str, *protocols: str) -> ssl.SSLSocket:
        """Return an encrypted connection from an address of this machine."""
        context = ssl.create_default_context(cafile=certificate(self._directory.parent)[0])
        context.set_alpn_protocols(protocols or ("http/1.1",))
        line = socket.create_connection(("127.0.0.1", self.port), 30, source_address=(address, 0))
        return context.wrap_socket(line, server_hostname="localhost")

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def _write_site(self, upstreams: Sequence[int]) -> None:
        crt, key = certificate(self._directory.parent)
        log = f"access_log {self._directory}/access.log croupier;"
        listen = f"listen 127.0.0.1:{self.port} ssl http2 default_server;"
        site = {
            "upstream": "".join(f"server 127.0.0.1:{port};" for port in upstreams),
            "plain": f"listen 127.0.0.1:{self.plain_port} default_server; {log}",
            "tls": f"{listen} ssl_certificate {crt}; ssl_certificate_key {key}; {log}",
        }
        for name, text in site.items():
            (self._directory / "conf" / "site" / f"{name}.conf").write_text(text, encoding="utf-8")

    def _replace(self, old: str, new: str) -> None:
        conf = self._directory / "conf" / "nginx.conf"
        before = conf.read_text(encoding="utf-8")
        assert before.count(old) == 1
        conf.write_text(before.replace(old, new), encoding="utf-8")


class FrontClient(LiveClient):
    """A client that comes over TLS, from an address of its own: nginx counts by address."""

    def __init__(self, front: Front, address: str) -> None:
        super().__init__(f"https://127.0.0.1:{front.port}")
        self._front, self._source = front, address

    def connection(self, seconds: float = 30) -> HTTPConnection:
        """Return a connection of one's own, on which nothing is checked."""
        return HTTPSConnection(
            "127.0.0.1",
            self._front.port,
            timeout=seconds,
            context=self._front.tls,
            source_address=(self._source, 0),
        )

    def _connect(self, seconds: float) -> HTTPConnection:
        return self.connection(max(seconds, 30))


class Recorder:
    """Something behind nginx that notes what it is sent, and answers so or with silence (None)."""

    def __init__(self, answer: bytes | None) -> None:
        self.heard: list[bytes] = []
        self._answer = answer
        self._kept: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        for each in (self._listener, *self._kept):
            each.close()

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._listener.accept()
            except OSError:
                return
            self.heard.append(line.recv(65_536))
            if self._answer is None:
                self._kept.append(line)
            else:
                line.sendall(self._answer)
                line.close()
