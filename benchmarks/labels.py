"""The labels rows: two thousand label files into one bundle, beside what merges PDF files and does nothing else."""

import json
import shutil
import statistics
import subprocess
import sys
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
LABELS = 2_000
GOALS = {"ours": 0.4, "ours_4up": 0.5}
_NAMES = ("Asha Rao", "सुनीता क्षीरसागर", "தமிழ்ச்செல்வன்", "Ravi Kumar", "Mohammed Iqbal")
_WORDS = {
    "ours": "logistics-batch: 4x6, all papers",
    "ours_4up": "logistics-batch: 4-up on A4, all papers",
    "qpdf": "qpdf: merged, nothing else",
    "pikepdf": "pikepdf: merged, nothing else",
    "pypdf": "pypdf: merged, nothing else",
}


def labels(folder: Path, *, runs: int) -> None:
    """Print the rows."""
    source = folder / "labels"
    write_labels(source)
    names = [name for name in _WORDS if _is_there(name)]
    said: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for _ in range(runs):
        for name in names:
            said[name].append(_run(name, source))
    fetched = sum(path.stat().st_size for path in source.glob("*.pdf"))
    print(
        f"\nlabels: {LABELS:,} files of {fetched / 1e6:.1f} MB to a bundle; ours: hashes compared, sorted, separators,"
    )
    print("  manifest, pick list and index, all written and noted in the ledger; in brackets the goal against qpdf")
    print(f"  {'':<42}{'seconds':>9}{'processor':>11}{'of qpdf':>9}{'peak MB':>9}{'file MB':>9}")
    middle = {
        name: {
            key: statistics.median(one[key] for one in each) for key in ("seconds", "processor", "peak_mb", "file_mb")
        }
        for name, each in said.items()
    }
    for name, figure in middle.items():
        share = f"{figure['processor'] / middle['qpdf']['processor']:>9.2f}" if "qpdf" in middle else f"{'':>9}"
        goal = f" ({GOALS[name]:g})" if name in GOALS else ""
        print(
            f"  {_WORDS[name]:<42}{figure['seconds']:>9.2f}{figure['processor']:>11.2f}{share}"
            f"{figure['peak_mb']:>9.0f}{figure['file_mb']:>9.2f}{goal}",
            flush=True,
        )
    judged = _run("judge", source)
    print(f"  at download, in a process of its own, a label: {judged['seconds'] / judged['labels'] * 1e3:.1f} ms,")
    print("  of it opened, put together once, rendered, and its barcode read back", flush=True)


def _is_there(name: str) -> bool:
    found = {"qpdf": shutil.which("qpdf"), "pypdf": find_spec("pypdf")}.get(name, True)
    if not found:
        print(f"{name} is not installed and left out")
    return bool(found)


def _run(name: str, source: Path) -> dict[str, Any]:
    command = [sys.executable, str(HERE / "labels_ways.py"), name, str(source)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if said["labels"] != LABELS and name != "judge":
        raise SystemExit(f"{name} made {said['labels']} labels of {LABELS}.")
    return said


def write_labels(folder: Path) -> None:
    """The label files as the sandbox makes them, each under the hash of its content, and a list of them."""
    from logistics_batch.sandbox.labels.layout import LabelPage, label_pdf

    folder.mkdir()
    lines = []
    for number in range(LABELS):
        awb_number = f"SH-{number:07}"
        page = LabelPage(
            awb_number=awb_number,
            order_awb_number=awb_number,
            reference=f"ORD-{number}",
            hub="BLR",
            name=_NAMES[number % len(_NAMES)],
            address=f"{number} MG Road, Bengaluru, Karnataka",
            postal_code=f"5600{number % 90 + 10}",
            mobile="9876543210",
            collect="649.00" if number % 4 == 0 else "",
            return_to="Acme Traders, Plot 7, Bhiwandi",
            contents=f"SKU-{number % 37} x 2",
        )
        content = label_pdf([page])
        digest = sha256(content).hexdigest()
        (folder / f"{digest}.pdf").write_bytes(content)
        lines.append({"awb_number": awb_number, "reference": page.reference, "name": page.name, "sha256": digest})
    (folder / "labels.json").write_text(json.dumps(lines))
