"""A run's folder holds to the laws of every record."""

from pathlib import Path

import pytest

from untilgreen.engine.store.folder_record import FolderRecord
from untilgreen.engine.store.runs import Store
from untilgreen.ports import Record, Records
from untilgreen.testing import record_laws


@pytest.mark.anyio
async def test_a_folder_holds_to_the_laws_of_records(tmp_path: Path) -> None:
    path = Store(tmp_path / "state").create(1_785_000_000.0, workspace=tmp_path).path
    (tmp_path / "scratch").mkdir()

    await record_laws(lambda: FolderRecord(path), tmp_path / "scratch")


def test_a_folder_is_a_record_and_a_store_has_records(tmp_path: Path) -> None:
    assert isinstance(FolderRecord(tmp_path), Record)
    assert isinstance(Store(tmp_path), Records)
