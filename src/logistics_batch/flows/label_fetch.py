"""Labels come to this machine once: asked for, downloaded at once, checked, kept by the hash of their content.

Asking for a label creates nothing (API §4.4), so it may be repeated. Each order is asked for alone: nothing in a PDF
for several orders would prove which page belongs to whom.
"""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from pydantic import ValidationError

from logistics_batch.api.answers import LabelLink, Meaning, ReadFailed, read_label
from logistics_batch.api.links import LinkFailure, LinkFetcher, LinkLimits, LinkProblem, LinkWay
from logistics_batch.errors import KeyRefused, RunStopped, ServiceMisaddressed
from logistics_batch.flows.label_orders import LabelOrder
from logistics_batch.flows.parts import Parts
from logistics_batch.model.job import Place
from logistics_batch.model.payloads import LabelByOrders, LabelShipment, body_text
from logistics_batch.paper.label_check import LabelFault, LabelFaultKind, LabelSound, check_label

LINKS_PER_LABEL = 3
ASKS_PER_LINK = 3
_PAUSE_SECONDS = 1.0
_WORTH_A_NEW_LINK = (LinkProblem.EXPIRED, LinkProblem.CUT, LinkProblem.TIMEOUT, LinkProblem.UNREACHABLE)
_FAULTS_OF_THE_WAY = (LabelFaultKind.NOT_PDF, LabelFaultKind.CUT)


@dataclass(frozen=True, slots=True)
class LabelFile:
    """One kept PDF: whose AWB it was asked for, the hash of its content, and its pages."""

    awb_number: str
    sha256: str
    pages: int
    path: Path


@dataclass(frozen=True, slots=True)
class LabelLost:
    """Why an order has no label, and what a person can do."""

    reason: str
    remedy: str


@dataclass(frozen=True, slots=True)
class _Download:
    awb_number: str
    content: bytes
    pages: int


class LabelSource:
    """Where labels come from: the files kept here, else the service."""

    def __init__(self, parts: Parts) -> None:
        access = parts.client.settings
        way = LinkWay(access.base_url, parts.policy.label_hosts, ca_file=access.ca_file, proxy=access.proxy)
        self._parts = parts
        self._folder = parts.files / "labels"
        self._reached = threading.Event()  # a label came, so the address is right
        self._links = LinkFetcher(way, limits=LinkLimits(deadline_seconds=access.deadline_seconds))

    def fetch_all(self, orders: Sequence[LabelOrder]) -> dict[str, tuple[LabelFile, ...] | LabelLost]:
        """The label files of each order, by its AWB number, or why there are none.

        Raises:
            KeyRefused, ServiceMisaddressed: no order can get a label; what came before is kept.
            RunStopped: the process was asked to end.
        """
        found: dict[str, tuple[LabelFile, ...] | LabelLost] = {}
        wanted = []
        for order in orders:
            kept = self._kept(order)
            if kept is None:
                wanted.append(order)
            else:
                found[order.awb_number] = kept
        self._parts.progress.start("Fetching labels", len(wanted))
        for order, answer in self._from_service(wanted):
            found[order.awb_number] = answer if isinstance(answer, LabelLost) else self._keep(answer)
            self._parts.progress.advance()
        self._parts.progress.done()
        return found

    def _kept(self, order: LabelOrder) -> tuple[LabelFile, ...] | None:
        """The kept files of an order; None unless all its packages are there, unchanged and newer than the order."""
        whole = self._kept_file(order.awb_number, newer_than=order.changed_at)
        if whole is not None and whole.pages == order.packages:
            return (whole,)
        singles = [self._kept_file(child, newer_than=order.changed_at) for child in order.children]
        files = tuple(file for file in singles if file is not None and file.pages == 1)
        return files if files and len(files) == order.packages else None

    def _kept_file(self, awb_number: str, *, newer_than: str) -> LabelFile | None:
        known = self._parts.ledger.label(awb_number)
        if known is None or known.fetched_at <= newer_than:
            return None
        path = self._path(known.sha256)
        try:
            same = sha256(path.read_bytes()).hexdigest() == known.sha256
        except OSError:
            return None
        return LabelFile(awb_number, known.sha256, known.pages, path) if same else None

    def _path(self, digest: str) -> Path:
        return self._folder / f"{digest}.pdf"

    def _keep(self, downloads: Sequence[_Download]) -> tuple[LabelFile, ...]:
        store = self._parts.open_store(Place(folder=str(self._folder)))
        files = []
        try:
            for download in downloads:
                digest = sha256(download.content).hexdigest()
                store.put(f"/{digest}.pdf", download.content)
                now = self._parts.clock.now().isoformat()
                self._parts.ledger.record_label(
                    download.awb_number, sha256=digest, pages=download.pages, fetched_at=now
                )
                files.append(LabelFile(download.awb_number, digest, download.pages, self._path(digest)))
        finally:
            store.close()
        return tuple(files)

    def _from_service(
        self, orders: Sequence[LabelOrder]
    ) -> Iterator[tuple[LabelOrder, tuple[_Download, ...] | LabelLost]]:
        """Answers as they come in; several calls are under way at a time, at the one rate of the key."""
        with ThreadPoolExecutor(self._parts.policy.concurrency, thread_name_prefix="label") as workers:
            pending: dict[Future[tuple[_Download, ...] | LabelLost], LabelOrder] = {
                workers.submit(self._fetch, order): order for order in orders
            }
            try:
                for future in as_completed(pending):
                    yield pending.pop(future), future.result()
            finally:
                workers.shutdown(wait=True, cancel_futures=True)

    def _fetch(self, order: LabelOrder) -> tuple[_Download, ...] | LabelLost:
        """In a worker thread: one PDF with a page for each package, else one PDF for each package."""
        whole = self._one(order, order.awb_number, pages=order.packages)
        if isinstance(whole, _Download):
            return (whole,)
        if whole.kind is not LabelFaultKind.WRONG_PAGES or not order.children:
            return whole.lost
        singles = [self._one(order, child, pages=1) for child in order.children]
        lost = next((single.lost for single in singles if isinstance(single, _Failed)), None)
        return lost or tuple(single for single in singles if isinstance(single, _Download))

    def _one(self, order: LabelOrder, awb_number: str, *, pages: int) -> "_Download | _Failed":
        failed = _Failed(LabelLost("no label came", "try again later"))
        for _ in range(LINKS_PER_LABEL):
            link = self._ask(order, awb_number)
            if isinstance(link, LabelLost):
                return _Failed(link)
            content = self._links.download(link.url)
            if isinstance(content, LinkFailure):
                failed = _Failed(LabelLost(content.message, _remedy(content.kind)))
                if content.kind not in _WORTH_A_NEW_LINK:
                    break
                continue
            verdict = check_label(content, expected_pages=pages)
            if isinstance(verdict, LabelSound):
                return _Download(awb_number, content, verdict.pages)
            failed = _unfit(verdict)
            if verdict.kind not in _FAULTS_OF_THE_WAY:
                break
        return failed

    def _ask(self, order: LabelOrder, awb_number: str) -> LabelLink | LabelLost:
        """A link to the label: by AWB number alone, which tells nothing new about people; else by full shipment."""
        answer = self._call(body_text(LabelByOrders(order_numbers=awb_number)))
        if isinstance(answer, ReadFailed) and answer.meaning is Meaning.REFUSED:
            shipment = _shipment(order, awb_number)
            answer = self._call(shipment) if shipment else answer
        if isinstance(answer, LabelLink):
            return answer
        if answer.meaning is Meaning.REFUSED:
            return LabelLost(f"the service refused the label: {answer.message}", "ask the operator of the service")
        return LabelLost(
            f"the service gave no label: {answer.message}", "print again later; the others are not affected"
        )

    def _call(self, body: str) -> LabelLink | ReadFailed:
        """Ask; again where asking again may help."""
        for attempt in range(1, ASKS_PER_LINK + 1):
            if self._parts.stop.is_set() or not self._parts.client.pacer.wait_turn(stop=self._parts.stop):
                raise RunStopped("The program was asked to end.", remedy="Print again; labels fetched so far are kept.")
            answer = read_label(self._parts.client.call("label.create", body=body, turn_taken=True))
            if isinstance(answer, LabelLink):
                self._reached.set()
                return answer
            if answer.meaning is Meaning.REFUSED or (answer.meaning is Meaning.MISADDRESSED and self._reached.is_set()):
                return answer
            _stop_if_hopeless(answer)
            if attempt < ASKS_PER_LINK:
                self._parts.clock.sleep(_PAUSE_SECONDS * attempt)
        return answer


@dataclass(frozen=True, slots=True)
class _Failed:
    lost: LabelLost
    kind: LabelFaultKind | None = None


def _unfit(fault: LabelFault) -> _Failed:
    remedy = "print again later; if it stays so, ask the operator of the service"
    return _Failed(LabelLost(f"the label is not usable: {fault.message}", remedy), fault.kind)


def _remedy(kind: LinkProblem) -> str:
    if kind is LinkProblem.FORBIDDEN:
        return "check label_hosts under [service] with the operator of the service"
    return "print again later; if it stays so, ask the operator of the service"


def _stop_if_hopeless(answer: ReadFailed) -> None:
    """What stops one label stops them all."""
    if answer.meaning is Meaning.UNAUTHORIZED:
        raise KeyRefused(
            f"The service does not take the API key for labels: {answer.message}",
            remedy="Check service.api_key_file: a wrong key, its base64 form, or a proxy that drops it.",
        )
    if answer.meaning is Meaning.MISADDRESSED:
        raise ServiceMisaddressed(
            f"Whatever answers the label call is not the service: {answer.message}",
            remedy='Check service.base_url, and "label.create" under [service.paths].',
        )


def _shipment(order: LabelOrder, awb_number: str) -> str | None:
    """The full form of the request (API §2.2) from what the order was created with; None if that does not give it."""
    try:
        payload = LabelShipment(
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
