"""The files in examples/fleet match the schemas of Compose and Kubernetes, and give workers time to drain."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import compose_spec
import kubernetes_validate
import pytest
import yaml

from untilgreen.core.values.units import duration
from untilgreen.surfaces.cli.main import call

FOLDER = Path(__file__).parents[2] / "examples" / "fleet"


def manifests() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((FOLDER / "kubernetes.yaml").read_text()))


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text())
    return found


def grace_of(words: list[str]) -> float:
    return duration(words[words.index("--grace") + 1], "grace")


@pytest.mark.parametrize("manifest", manifests(), ids=lambda each: each["kind"])
def test_each_manifest_is_valid_for_kubernetes(manifest: dict[str, Any]) -> None:
    kubernetes_validate.validate(manifest, "1.30", strict=True)


def test_a_mistake_in_a_manifest_would_be_noticed() -> None:
    deployment = next(each for each in manifests() if each["kind"] == "Deployment")
    deployment["spec"]["template"]["spec"]["terminationGraceSeconds"] = 1

    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(deployment, "1.30", strict=True)


def test_the_compose_file_is_valid() -> None:
    parsed = compose_spec.PyCompose.from_json(json.dumps(compose()))

    assert "worker" in parsed.service_names()
    assert set(_needed()) <= set(parsed.service_names())


def _needed() -> list[str]:
    return [name for service in compose()["services"].values() for name in service.get("depends_on", {})]


def test_a_drain_is_longer_than_its_grace() -> None:
    deployment = next(each for each in manifests() if each["kind"] == "Deployment")
    pod = deployment["spec"]["template"]["spec"]
    worker = compose()["services"]["worker"]

    assert pod["terminationGracePeriodSeconds"] > grace_of(pod["containers"][0]["args"])
    assert duration(worker["stop_grace_period"], "stop") > grace_of(worker["command"])


def test_every_flag_in_them_is_one_of_ours(capsys: pytest.CaptureFixture[str]) -> None:
    shown = {}
    for verb in ("worker", "fleet init"):
        assert call([*verb.split(), "--help"]) == 0
        shown[verb] = capsys.readouterr().out
    deployment = next(each for each in manifests() if each["kind"] == "Deployment")
    words = compose()["services"]["worker"]["command"]
    words += deployment["spec"]["template"]["spec"]["containers"][0]["args"]

    assert [word for word in words if word.startswith("--") and word not in shown["worker"]] == []
    init = " ".join(compose()["services"]["prepare"]["command"])
    assert [word for word in re.findall(r"--[a-z]+", init) if word not in shown["fleet init"]] == []
