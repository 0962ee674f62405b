"""Flags become keys of the spec."""

from pathlib import Path

import pytest

from untilgreen.surfaces.cli.options import SpecFlags


@pytest.mark.parametrize(("yolo", "permissions"), [(False, "gates"), (True, "all")])
def test_yolo_permits_everything(tmp_path: Path, yolo: bool, permissions: str) -> None:
    flags = SpecFlags(agent=["cmd:true"], gate=["true"], yolo=yolo)

    assert flags.load(tmp_path, "Do it.").spec.file.permissions == permissions
