"""The folder a print bundle goes into: what an earlier bundle left there is put aside, never removed."""

from pathlib import Path

from logistics_batch.paper.labels.manifest_pages import bundle_of

# The names of what a bundle consists of. The manifest moves last: it tells whose the other files are.
_OURS = (
    "labels.pdf",
    "labels_part-[0-9][0-9]*-of-[0-9][0-9]*.pdf",
    "labels_[0-9][0-9]*_*.pdf",
    "pick_list.pdf",
    "index.csv",
    "manifest.pdf",
)


def holds_bundle(folder: Path) -> bool:
    """Whether files of a bundle lie there."""
    return bool(_files(folder))


def put_aside(folder: Path, *, before: str) -> None:
    """Move the files of an earlier bundle into `earlier/ITS-ID`, that they do not lie among those of the next.

    before: the id of the next bundle; it names the place where the earlier id is not known.
    """
    files = _files(folder)
    if not files:
        return
    manifest = folder / "manifest.pdf"
    earlier = bundle_of(manifest.read_bytes()) if manifest.is_file() else ""
    place = folder / "earlier" / (earlier if earlier not in ("", before) else f"before-{before}")
    place.mkdir(parents=True, exist_ok=True)
    for path in files:
        path.rename(_free(place / path.name))


def _files(folder: Path) -> list[Path]:
    return [path for pattern in _OURS for path in sorted(folder.glob(pattern))]


def _free(path: Path) -> Path:
    """The path, or one beside it if something lies there."""
    number = 1
    free = path
    while free.exists():
        number += 1
        free = path.with_stem(f"{path.stem}-{number}")
    return free
