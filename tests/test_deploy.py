"""What is delivered to run the service elsewhere: its parts agree with the service and with each other."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from service import embedded
from service.clients import Proxies
from service.settings import Settings
from tests.front import DELIVERED
from tests.servers import ROOT

DEPLOY = ROOT / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
OPERATE = (ROOT / "docs" / "operate.md").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
KEPT = {"appendonly", "appendfsync", "aof-use-rdb-preamble", "save", "maxmemory-policy"}
"""What decides whether the store keeps what it acknowledged."""
NOTHING = (None, (), Proxies())


def settings() -> dict[str, str]:
    """Return the settings that the service reads, with their defaults."""
    source = (ROOT / "service" / "settings.py").read_text(encoding="utf-8")
    names = re.findall(r'env\.\w+\("([A-Z_]+)"', source)
    defaults = {name: getattr(Settings(), name.lower()) for name in names}
    return {name: "" if value in NOTHING else f"`{value}`" for name, value in defaults.items()}


def directives(text: str) -> dict[str, str]:
    """Return a store's configuration, as far as it decides what is kept."""
    pairs = (line.partition(" ")[::2] for line in text.splitlines())
    return {name: value.strip('"') for name, value in pairs if name in KEPT}


def words(command: list[str]) -> str:
    """Return options on a command line as the lines of a configuration."""
    return "\n".join(
        f"{name.removeprefix('--')} {value}" for name, value in zip(command[1::2], command[2::2], strict=True)
    )


def test_every_setting_is_documented_with_its_default() -> None:
    """The table of settings has these and no others."""
    table = OPERATE[OPERATE.index("## Settings") : OPERATE.index("## Upgrade")]
    assert dict(re.findall(r"^\| `([A-Z_]+)` \| (\S*) ?\|", table, re.MULTILINE)) == settings()


def test_whatever_the_documentation_names_is_there() -> None:
    """No file has moved away."""
    for name in set(re.findall(r"(?<![\w/])deploy/[\w./-]*\w", OPERATE)) - {"deploy/tls"}:
        assert name.startswith("deploy/tls/") or (ROOT / name).exists(), name


def test_every_store_keeps_what_the_embedded_one_keeps() -> None:
    """Compose, Kubernetes and what an operator is told set the same."""
    wanted = {name: value for name, value in embedded._CONFIG.items() if name in KEPT}
    assert wanted.keys() == KEPT
    assert directives(words(COMPOSE["services"]["store"]["command"])) == wanted
    assert directives((KUBERNETES / "valkey.conf").read_text(encoding="utf-8")) == wanted
    assert directives(OPERATE) == wanted


def test_one_version_is_delivered() -> None:
    """The image's label and whatever names the image have that of the project."""
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert version is not None
    assert f'image.version="{version[1]}"' in (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    assert COMPOSE["services"]["service"]["image"] == f"croupier:{version[1]}"
    assert kustomization()["images"][0]["newTag"] == version[1]


def kustomization() -> dict[str, Any]:
    return dict(yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text(encoding="utf-8")))


def images(node: Any) -> Iterator[str]:  # noqa: ANN401 - any YAML
    """Yield the names of images in a document."""
    if isinstance(node, dict):
        yield from (value for name, value in node.items() if name == "image")
    for each in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from images(each)


def test_what_others_made_is_pinned_by_digest() -> None:
    """And the same store runs in both places."""
    documents = [each for path in KUBERNETES.glob("*.yaml") for each in yaml.safe_load_all(path.read_text("utf-8"))]
    named = {*images(COMPOSE), *images(documents)}
    others = {name for name in named if not name.startswith("croupier")}
    others.add(re.search(r"^ARG PYTHON=(.+)$", (DEPLOY / "Dockerfile").read_text("utf-8"), re.MULTILINE)[1])  # type: ignore[index]
    assert {name.partition(":")[0] for name in others} == {"nginx", "valkey/valkey", "python"}
    assert len(others) == 3
    assert all(re.search("@sha256:[0-9a-f]{64}$", name) for name in others)


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_no_container_has_more_than_it_needs(name: str) -> None:
    """Each is confined, and says whether it is well."""
    service = COMPOSE["services"][name]
    assert service["read_only"]
    assert (service["cap_drop"], service["security_opt"]) == (["ALL"], ["no-new-privileges:true"])
    assert "healthcheck" in service or "HEALTHCHECK" in (DEPLOY / "Dockerfile").read_text(encoding="utf-8")


def test_nginx_finds_in_its_container_what_it_includes() -> None:
    """Every file of its configuration is mounted where it looks for it."""
    mounted = dict(each.split(":")[1::-1] for each in COMPOSE["services"]["front"]["volumes"])
    wanted = {f"/etc/nginx/{path.relative_to(DELIVERED)}" for path in DELIVERED.glob("*.conf")}
    wanted |= {f"/etc/nginx/{path.relative_to(DELIVERED)}" for path in DELIVERED.glob("site/*.conf")}
    assert mounted.keys() - {"/etc/nginx/tls"} == wanted
    assert all((DEPLOY / source).exists() for place, source in mounted.items() if place != "/etc/nginx/tls")


def test_nothing_of_kubernetes_is_left_out() -> None:
    """Every file is a resource or a part of a configuration."""
    described = kustomization()
    named = {*described["resources"], *described["configMapGenerator"][0]["files"]}
    assert named | {"kustomization.yaml", "README.md"} == {path.name for path in KUBERNETES.iterdir()}


@pytest.mark.parametrize("script", sorted(DEPLOY.rglob("*.sh")), ids=lambda path: path.name)
def test_a_script_can_be_read(script: Path) -> None:
    """The shell finds no fault in it."""
    subprocess.run(["sh", "-n", str(script)], check=True)  # noqa: S607 - whichever there is
