"""Label files meet their first reader in a process that can be lost, and their barcodes say whose they are."""

import io
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pikepdf
import pytest
from labels.label_files import blank, busy, changed, cropped, label, rotated, scan

from logistics_batch.child_process import Allowance
from logistics_batch.paper.labels import barcodes
from logistics_batch.paper.labels.barcodes import Proof, assign, prove
from logistics_batch.paper.labels.check import LabelFault, LabelFaultKind
from logistics_batch.paper.labels.judge import LabelJudge

AWB, OTHER = "SH-22T70ZX", "SH-99T70ZX"


@pytest.fixture
def judge() -> Iterator[LabelJudge]:
    started = LabelJudge(processes=1, allowance=Allowance(cpu_seconds=1))
    yield started
    started.close()


def children() -> list[int]:
    """The processes that judge; others of this process belong to other tests."""
    all_of_ours = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [int(pid) for pid in all_of_ours if b"labels.judge" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def kind_of_fault(judge: LabelJudge, content: bytes, awb_numbers: list[str]) -> LabelFaultKind:
    with pytest.raises(LabelFault) as refused:
        judge.judge(content, awb_numbers)
    return refused.value.kind


@pytest.mark.parametrize(
    ("content", "proof"),
    [
        (label(AWB), Proof.PROVEN),
        (rotated(label(AWB), 270), Proof.PROVEN),
        (cropped(AWB), Proof.PROVEN),
        (label(f"{AWB}-02"), Proof.PROVEN),
        (label(f"TO/{AWB}"), Proof.PROVEN),
        (label("INVOICE-1"), Proof.UNREAD),
        (label(""), Proof.UNREAD),
    ],
    ids=["plain", "turned", "cropped", "its package", "in more text", "another kind of number", "none"],
)
def test_barcode_says_whose_label_it_is(judge: LabelJudge, content: bytes, proof: Proof) -> None:
    verdict = judge.judge(content, [AWB])
    assert (verdict.content, verdict.pages, verdict.proof) == (content, 1, proof)


def test_label_of_another_order_is_refused(judge: LabelJudge) -> None:
    for content in (label(OTHER), label(f"{AWB}9")):
        assert kind_of_fault(judge, content, [AWB]) is LabelFaultKind.WRONG


def test_packages_in_another_order_are_refused(judge: LabelJudge) -> None:
    awbs = [f"{AWB}-01", f"{AWB}-02"]
    assert judge.judge(label(*awbs), awbs).pages == 2
    assert kind_of_fault(judge, label(*awbs[::-1]), awbs) is LabelFaultKind.WRONG


def test_a_file_that_takes_too_long_costs_one_process(judge: LabelJudge) -> None:
    assert kind_of_fault(judge, busy(), ["SH-BUSY"]) is LabelFaultKind.COSTLY
    assert children() == []
    assert judge.judge(label(AWB), [AWB]).pages == 1


def test_a_process_that_died_between_two_files_is_replaced(judge: LabelJudge) -> None:
    judge.judge(label(AWB), [AWB])
    os.kill(children()[0], signal.SIGKILL)
    assert judge.judge(label(AWB), [AWB]).pages == 1


def test_the_process_inherits_no_secret(judge: LabelJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGISTICS_BATCH__SERVICE__API_KEY", "s3cret-key")
    judge.judge(label(AWB), [AWB])
    environment = Path(f"/proc/{children()[0]}/environ").read_bytes()
    assert b"s3cret-key" not in environment
    names = {entry.partition(b"=")[0] for entry in environment.split(b"\0") if entry}
    assert names == {b"LC_ALL", b"POLARS_MAX_THREADS", b"MALLOC_ARENA_MAX", b"POLARS_SKIP_CPU_CHECK"}


def test_closing_ends_the_processes(judge: LabelJudge) -> None:
    judge.judge(label(AWB), [AWB])
    judge.close()
    assert children() == []


def test_faults_come_back_with_their_kind(judge: LabelJudge) -> None:
    for content, kind in ((b"<html>", LabelFaultKind.NOT_PDF), (blank(), LabelFaultKind.BLANK)):
        assert kind_of_fault(judge, content, [AWB]) is kind


def test_a_file_for_many_is_divided_by_its_barcodes(judge: LabelJudge) -> None:
    orders = [["SH-A"], ["SH-B-01", "SH-B-02"], ["SH-C"]]
    divided = judge.divide(label("SH-B-02", "SH-C", "SH-A", "SH-B-01"), orders)
    assert [[code for page in scan(one.content) for code in page] for one in divided] == orders
    assert {one.proof for one in divided} == {Proof.PROVEN}


@pytest.mark.parametrize(
    "awbs",
    [
        ("SH-A",),
        ("SH-A", "SH-A"),
        ("SH-A", "SH-Z"),
        ("SH-A", ""),
        ("SH-A", "SH-B", "SH-C"),
    ],
)
def test_a_file_for_many_that_proves_nothing_is_refused(judge: LabelJudge, awbs: tuple[str, ...]) -> None:
    with pytest.raises(LabelFault):
        judge.divide(label(*awbs), [["SH-A"], ["SH-B"]])


def test_a_page_with_two_awbs_belongs_to_nobody() -> None:
    assert assign([["SH-A", "SH-B"], ["SH-B"]], ["SH-A", "SH-B"]) is None
    assert assign([["SH-B"], ["x", "SH-A"]], ["SH-A", "SH-B"]) == [1, 0]
    assert prove([["SH-Z", "SH-A"]], ["SH-A"]) is Proof.PROVEN  # as a label that also carries that of its return


def test_nothing_is_proven_where_nothing_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(barcodes, "find_spec", lambda name: None)
    assert barcodes.read_barcodes(label(AWB)) is None
    assert prove(None, [AWB]) is Proof.NOT_TRIED
    assert assign(None, [AWB]) is None


def test_divided_files_are_small(judge: LabelJudge) -> None:
    """The pictures and fonts of other orders do not come along."""

    def change(pdf: pikepdf.Pdf, page: pikepdf.Page) -> None:
        for number, each in enumerate(pdf.pages):
            data = os.urandom(100_000)
            picture = pdf.make_stream(data, Type=pikepdf.Name.XObject, Subtype=pikepdf.Name.Image)
            picture.Width, picture.Height, picture.BitsPerComponent = 100, 1000, 8
            picture.ColorSpace = pikepdf.Name.DeviceGray
            each.obj.Resources.XObject = pikepdf.Dictionary({f"/P{number}": picture})

    awbs = [f"SH-{number}" for number in range(4)]
    divided = judge.divide(changed(label(*awbs), change), [[awb] for awb in awbs])
    assert all(len(one.content) < 120_000 for one in divided)
    for one in divided:
        with pikepdf.open(io.BytesIO(one.content)) as pdf:
            assert len(pdf.pages) == 1
