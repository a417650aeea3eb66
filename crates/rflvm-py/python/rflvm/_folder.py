"""The folder of a fit: named by the user, or temporary and removed with the last reference to it."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
import weakref
import zipfile
from pathlib import Path
from typing import Optional, Union


class Folder:
    """A folder on disk. A temporary folder is pickled with the model; a named one stays where it is."""

    def __init__(self, path: Optional[Union[str, os.PathLike]] = None):
        self._be_at(path)

    def _be_at(self, path: Optional[Union[str, os.PathLike]]) -> None:
        if path is not None and not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"store is {path!r}, but it must be the path of a folder, or None")
        self.is_named = path is not None
        self.path = Path(tempfile.mkdtemp(prefix="rflvm-") if path is None else path).absolute()
        if not self.is_named:
            weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def check(self) -> None:
        """Raise FileNotFoundError if the folder no longer exists."""
        if self.path.is_dir():
            return
        if not self.is_named:
            sentence = f"the temporary folder {self.path} that held the draws of this model was removed; fit again, with store= to keep it"
            raise FileNotFoundError(sentence)
        raise FileNotFoundError(
            f"the folder {self.path} that holds the draws of this model is missing; if it was moved, open it where it is now "
            "with rflvm.load(new_path), or put it back"
        )

    def __getstate__(self) -> dict:
        if self.is_named:
            return {"path": str(self.path)}
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
            for file in sorted(self.path.rglob("*")):
                if file.is_file() and file.name != ".lock":
                    archive.write(file, file.relative_to(self.path))
        return {"packed": packed.getvalue()}

    def __setstate__(self, state: dict) -> None:
        self._be_at(state.get("path"))
        if "packed" in state:
            with zipfile.ZipFile(io.BytesIO(state["packed"])) as archive:
                archive.extractall(self.path)
