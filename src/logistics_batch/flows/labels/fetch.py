"""Labels come to this machine once: asked for, downloaded at once, judged, kept by the hash of their content.

Asking for a label creates nothing (API §4.4), so it may be repeated. Each order is asked for alone, unless the settings
say that one call may ask for more: then the barcodes on the pages must prove which page belongs to whom, or each order
is asked for alone after all.
"""

import re
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import closing, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from pydantic import ValidationError

from logistics_batch.api.answers import LabelLink, ReadFailed, ReplyVerdict, raise_for_every_call, read_label
from logistics_batch.api.links import LinkFailure, LinkFetcher, LinkProblem, LinkWay
from logistics_batch.errors import RunStopped
from logistics_batch.flows.labels.orders import LabelOrder
from logistics_batch.flows.parts import Parts
from logistics_batch.intake.stores.store import FileStore
from logistics_batch.ledger import StoredLabel
from logistics_batch.model.jobs.job import JobPlace
from logistics_batch.model.payloads import LabelRequest, body_text
from logistics_batch.paper.labels.barcodes import Proof
from logistics_batch.paper.labels.check import LabelFault, LabelFaultKind
from logistics_batch.paper.labels.judge import LabelJudge, SoundLabel

_LABELS = "labels"  # the folder of kept labels, below that of files
_LINKS_PER_LABEL = 3
_ASKS_PER_LINK = 3
_PAUSE_SECONDS = 1.0
_KEPT_AT_ONCE = 50  # labels in one transaction; after a crash so many are fetched again
_WORTH_A_NEW_LINK = (LinkProblem.EXPIRED, LinkProblem.CUT, LinkProblem.TIMEOUT, LinkProblem.UNREACHABLE)
_WORTH_ANOTHER_TRY = (LabelFaultKind.NOT_PDF, LabelFaultKind.CUT, LabelFaultKind.WRONG)
_CANCELLED = re.compile(r"\bcancell?ed\b", re.IGNORECASE)  # in a refusal
_WORTH_ASKING_FOR_PACKAGES = (LabelFaultKind.WRONG_PAGES, LabelFaultKind.WRONG)


@dataclass(frozen=True, slots=True)
class LabelFile:
    """One kept PDF: whose AWB it was asked for, the hash of its content, and its pages.

    proof: what its barcodes said when it was fetched, None if that was in an earlier run.
    """

    awb_number: str
    sha256: str
    pages: int
    path: Path
    proof: Proof | None = None


@dataclass(frozen=True, slots=True)
class LabelLost:
    """Why an order has no label, and what a person can do; kind: what was wrong with the file that came, if one did."""

    reason: str
    remedy: str
    kind: LabelFaultKind | None = None


@dataclass(frozen=True, slots=True)
class _Download:
    awb_number: str
    label: SoundLabel


_Answer = tuple[_Download, ...] | LabelLost
_ASK_AGAIN = "print again later; if it stays so, ask the operator of the service"


class LabelSource:
    """Where labels come from: the files kept here, else the service."""

    def __init__(self, parts: Parts) -> None:
        access = parts.client.settings
        way = LinkWay(
            access.base_url,
            parts.policy.label_hosts,
            ca_file=access.ca_file,
            proxy=access.proxy,
            deadline_seconds=access.deadline_seconds,
        )
        self._parts = parts
        self._folder = parts.files / _LABELS
        self._reached = threading.Event()  # a label came, so the address is right
        self._links = LinkFetcher(way)
        self._judge = LabelJudge()

    def fetch_all(self, orders: Sequence[LabelOrder]) -> dict[str, tuple[LabelFile, ...] | LabelLost]:
        """The label files of each order, by its AWB number, or why there are none.

        Raises:
            KeyRefused, ServiceMisaddressed: no order can get a label; what came before is kept.
            RunStopped: the process was asked to end.
        """
        found: dict[str, tuple[LabelFile, ...] | LabelLost] = dict(self._kept(orders))
        wanted = [order for order in orders if order.awb_number not in found]
        noted: list[StoredLabel] = []
        store = self._parts.open_store(JobPlace(folder=str(self._folder)))
        self._parts.progress.start("Fetching labels", len(wanted))
        try:
            with closing(self._from_service(wanted)) as answers:
                for order, answer in answers:
                    found[order.awb_number] = self._kept_answer(answer, store, noted)
                    if len(noted) >= _KEPT_AT_ONCE:
                        self._note(noted)
                    self._parts.progress.advance()
        finally:
            store.close()
            self._note(noted)
            self._judge.close()
        self._parts.progress.done()
        return found

    def _kept_answer(
        self, downloads: _Answer, store: FileStore, noted: list[StoredLabel]
    ) -> tuple[LabelFile, ...] | LabelLost:
        """The files of one order, written by the hash of their content; or why there are none."""
        if isinstance(downloads, LabelLost):
            return downloads
        files = []
        for download in downloads:
            label, digest = download.label, sha256(download.label.content).hexdigest()
            store.put(f"/{digest}.pdf", label.content)
            path = self._folder / f"{digest}.pdf"
            files.append(LabelFile(download.awb_number, digest, label.pages, path, label.proof))
            now = self._parts.clock.now().isoformat()
            noted.append(StoredLabel(download.awb_number, digest, label.pages, now))
        return tuple(files)

    def _note(self, noted: list[StoredLabel]) -> None:
        if noted:
            self._parts.ledger.labels.record_labels(noted)
            noted.clear()

    def _kept(self, orders: Sequence[LabelOrder]) -> Iterator[tuple[str, tuple[LabelFile, ...]]]:
        """The orders of which all packages are there, unchanged and newer than the order, with their files."""
        names = [name for order in orders for name in (order.awb_number, *order.children)]
        known = self._parts.ledger.labels.of_orders(names)
        for order in orders:
            whole = self._kept_file(known.get(order.awb_number), newer_than=order.changed_at)
            if whole is not None and whole.pages == order.packages:
                yield order.awb_number, (whole,)
                continue
            singles = [self._kept_file(known.get(child), newer_than=order.changed_at) for child in order.children]
            files = tuple(file for file in singles if file is not None and file.pages == 1)
            if files and len(files) == order.packages:
                yield order.awb_number, files

    def _kept_file(self, known: StoredLabel | None, *, newer_than: str) -> LabelFile | None:
        if known is None or known.fetched_at <= newer_than:
            return None
        path = self._folder / f"{known.sha256}.pdf"
        try:
            same = sha256(path.read_bytes()).hexdigest() == known.sha256
        except OSError:
            return None
        return LabelFile(known.awb_number, known.sha256, known.pages, path) if same else None

    def _from_service(self, orders: Sequence[LabelOrder]) -> Generator[tuple[LabelOrder, _Answer]]:
        """Answers as they come in; several calls are under way at a time, at the one rate of the key."""
        with ThreadPoolExecutor(self._parts.policy.concurrency, thread_name_prefix="label") as workers:
            calls: list[Future[list[tuple[LabelOrder, _Answer]]]] = [
                workers.submit(self._fetch, some) for some in self._batches(orders)
            ]
            try:
                for future in as_completed(calls):
                    calls.remove(future)
                    yield from future.result()
            finally:
                workers.shutdown(wait=True, cancel_futures=True)

    def _batches(self, orders: Sequence[LabelOrder]) -> Iterator[list[LabelOrder]]:
        """What one call asks for; an order whose packages cannot be told apart by a barcode is asked for alone."""
        size = self._parts.policy.label_orders_per_call
        together: list[LabelOrder] = []
        for order in orders:
            if size == 1 or len(set(order.package_awbs)) < order.packages:
                yield [order]
                continue
            together.append(order)
            if len(together) == size:
                yield together
                together = []
        if together:
            yield together

    def _fetch(self, orders: Sequence[LabelOrder]) -> list[tuple[LabelOrder, _Answer]]:
        """In a worker thread: the labels of these orders, in one call if that proves right."""
        if len(orders) > 1:
            answer = self._call(body_text(LabelRequest(order_numbers=",".join(order.awb_number for order in orders))))
            content = self._links.download(answer.url) if isinstance(answer, LabelLink) else None
            if isinstance(content, bytes):
                with suppress(LabelFault):
                    labels = self._judge.divide(content, [order.package_awbs for order in orders])
                    each = zip(orders, labels, strict=True)
                    return [(order, (_Download(order.awb_number, label),)) for order, label in each]
        return [(order, self._fetch_one(order)) for order in orders]

    def _fetch_one(self, order: LabelOrder) -> _Answer:
        """One PDF with a page for each package, else one PDF for each package."""
        whole = self._one(order, order.awb_number, order.package_awbs)
        if isinstance(whole, _Download):
            return (whole,)
        if whole.kind not in _WORTH_ASKING_FOR_PACKAGES or not order.children:
            return whole
        singles = [self._one(order, child, (child,)) for child in order.children]
        lost = next((single for single in singles if isinstance(single, LabelLost)), None)
        return lost or tuple(single for single in singles if isinstance(single, _Download))

    def _one(self, order: LabelOrder, awb_number: str, package_awbs: Sequence[str]) -> _Download | LabelLost:
        lost = LabelLost("no label came", "try again later")
        for _ in range(_LINKS_PER_LABEL):
            link = self._ask(order, awb_number)
            if isinstance(link, LabelLost):
                return link
            content = self._links.download(link.url)
            if isinstance(content, LinkFailure):
                hosts = "check label_hosts under [service] with the operator of the service"
                lost = LabelLost(content.message, hosts if content.kind is LinkProblem.FORBIDDEN else _ASK_AGAIN)
                if content.kind in _WORTH_A_NEW_LINK:
                    continue
                return lost
            try:
                return _Download(awb_number, self._judge.judge(content, package_awbs))
            except LabelFault as fault:
                lost = LabelLost(f"the label is not usable: {fault.message}", _ASK_AGAIN, fault.kind)
                if fault.kind not in _WORTH_ANOTHER_TRY:
                    return lost
        return lost

    def _ask(self, order: LabelOrder, awb_number: str) -> LabelLink | LabelLost:
        """A link to the label: by AWB number alone, which tells nothing new about people; else by full shipment.

        Of an order that the service calls cancelled nothing more is told.
        """
        answer = self._call(body_text(LabelRequest(order_numbers=awb_number)))
        if isinstance(answer, ReadFailed) and answer.meaning is ReplyVerdict.REFUSED and not _says_cancelled(answer):
            shipment = _shipment(order, awb_number)
            answer = self._call(shipment) if shipment else answer
        if isinstance(answer, LabelLink):
            return answer
        if answer.meaning is ReplyVerdict.REFUSED:
            remedy = "nothing to do; do not pick it" if _says_cancelled(answer) else "ask the operator of the service"
            return LabelLost(f"the service refused the label: {answer.message}", remedy)
        return LabelLost(
            f"the service gave no label: {answer.message}", "print again later; the others are not affected"
        )

    def _call(self, body: str) -> LabelLink | ReadFailed:
        """Ask; again where asking again may help."""
        for attempt in range(1, _ASKS_PER_LINK + 1):
            if self._parts.stop.is_set() or not self._parts.client.pacer.wait_turn(stop=self._parts.stop):
                raise RunStopped("The program was asked to end.", remedy="Print again; labels fetched so far are kept.")
            answer = read_label(self._parts.client.call("label.create", body=body, turn_taken=True))
            if isinstance(answer, LabelLink):
                self._reached.set()
                return answer
            if answer.meaning is ReplyVerdict.REFUSED or (
                answer.meaning is ReplyVerdict.MISADDRESSED and self._reached.is_set()
            ):
                return answer
            raise_for_every_call(answer.meaning, answer.brief)  # what stops one label stops them all
            if attempt < _ASKS_PER_LINK:
                self._parts.clock.sleep(_PAUSE_SECONDS * attempt)
        return answer


def _says_cancelled(refusal: ReadFailed) -> bool:
    return bool(_CANCELLED.search(refusal.message))


def _shipment(order: LabelOrder, awb_number: str) -> str | None:
    """The full form of the request (API §2.2) from what the order was created with; None if that does not give it."""
    try:
        payload = LabelRequest(
            awb_number=awb_number,
            primary_mobile_no=order.text("customer_mobile"),
            shipping_address=order.text("delivery_address"),
            delivery_pincode=order.text("delivery_postal_code"),
            order_id=order.reference,
            customer_name=order.text("customer_name") or None,
            return_address=order.text("return_address") or None,
            is_cod=order.cash > 0,
            amount_to_collect=f"{order.cash:.2f}",
        )
    except ValidationError:  # an order may be created without a pincode, a label not be asked for
        return None
    return body_text(payload)
