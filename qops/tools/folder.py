"""Writes files to a folder, and never over a file that is there."""

from collections.abc import Iterable, Mapping
from pathlib import Path

__all__ = ["check_free", "write_new"]


def check_free(folder: str | Path, names: Iterable[str]) -> None:
    """Raise FileExistsError if a file of one of these names is in the folder."""
    for path in (Path(folder) / name for name in names):
        if path.exists():
            raise FileExistsError(f"{path}: is there already and is not written over; name another folder")


def write_new(folder: str | Path, files: Mapping[str, str | bytes]) -> list[Path]:
    """Write files that are not there yet; the folder is made if it is missing.

    Parameters
    ----------
    folder : str or Path
        Where.
    files : dict of str to str or bytes
        What, by name.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    FileExistsError
        A file of one of these names is there; then none is written.
    OSError
        A folder that cannot be made or written to; then no file is left behind.
    """
    check_free(folder, files)
    paths = {Path(folder) / name: content for name, content in files.items()}
    Path(folder).mkdir(parents=True, exist_ok=True)
    done: list[Path] = []
    try:
        for path, content in paths.items():
            with path.open("xb") as file:
                done.append(path)
                file.write(content.encode("utf-8") if isinstance(content, str) else content)
    except OSError:
        for path in done:
            path.unlink()
        raise
    return done
