"""Every address of the pages: which page it is, who may ask for it, and what the audit calls it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from logistics_batch.web.workbench import (
    admin,
    check,
    decisions,
    documents,
    files,
    jobs,
    labels,
    mappings,
    reconciliation,
    tonight,
)
from logistics_batch.web.workbench.asked import Download, Moved, PageData, PageRequest
from logistics_batch.web.workbench.people import CHECK, DECIDE, MAP, RECONCILE, SEES_PEOPLE, Role

Page = Callable[[PageRequest], PageData | Moved | Download]

EVERYBODY: Final = frozenset(Role)
ADMIN: Final = frozenset({Role.ADMIN})


@dataclass(frozen=True, slots=True)
class Route:
    """An address. path: {name} stands for the rest of it, as written by people. twin: the address of its JSON.

    audit: what is done there, in the audit; each that changes what others see has one. place: its name in the line of
    places at the top, "" for pages that are reached from others. is_file: it gives a file to keep. takes_file: its form
    brings one.
    """

    path: str
    page: Page
    roles: frozenset[Role] = EVERYBODY
    method: str = "GET"
    audit: str = ""
    place: str = ""
    is_file: bool = False
    takes_file: bool = False

    @property
    def twin(self) -> str:
        """Where a program gets the same, "" where only people go."""
        if self.method != "GET" or self.is_file:
            return ""
        return "/tonight.json" if self.path == "/" else f"{self.path}.json"


ROUTES: Final = (
    Route("/", tonight.tonight, place="Tonight"),
    Route("/find", tonight.find),
    Route("/decisions", decisions.waiting, place="Decisions"),
    Route("/decisions/{name}", decisions.one),
    Route("/decisions/look", decisions.look, DECIDE, "POST", "looked at what a decision would do"),
    Route("/decisions/decide", decisions.decide, DECIDE, "POST", "decided"),
    Route("/files", files.latest, place="Files"),
    Route("/files/file/{name}", files.download, SEES_PEOPLE, is_file=True),
    Route("/files/{name}", files.one),
    Route("/check", check.start, CHECK, place="Check"),
    Route("/check/file/{name}", check.download, CHECK, is_file=True),
    Route("/check/{name}", check.grid, CHECK),
    Route("/check/upload", check.upload, CHECK, "POST", "checked a sheet", takes_file=True),
    Route("/check/correct", check.correct, CHECK, "POST", "corrected cells of a sheet that is checked"),
    Route("/check/hand", check.hand, CHECK, "POST", "handed a sheet to a job"),
    Route("/mappings", mappings.all_of_them, MAP, place="Mappings"),
    Route("/mappings/new", mappings.start, MAP),
    Route("/mappings/new/{name}", mappings.studio, MAP),
    Route("/mappings/open", mappings.open_one, MAP, "POST", "looked at a mapping on a sample", takes_file=True),
    Route("/mappings/draft", mappings.draft, MAP, "POST"),
    Route("/mappings/change", mappings.change, MAP, "POST"),
    Route("/mappings/save", mappings.save, MAP, "POST", "saved a mapping"),
    Route("/reconciliation", reconciliation.overview, RECONCILE, place="Reconciliation"),
    Route("/reconciliation/scorecards", reconciliation.scorecards, RECONCILE),
    Route("/reconciliation/write", reconciliation.write, RECONCILE, "POST", "wrote beside exceptions"),
    Route("/reconciliation/view", reconciliation.keep_view, RECONCILE, "POST"),
    Route("/labels", labels.bundles, DECIDE, place="Labels"),
    Route("/labels/file/{name}", labels.file, DECIDE, is_file=True),
    Route("/labels/{name}", labels.bundle, DECIDE),
    Route("/labels/look", labels.look, DECIDE, "POST", "looked at what would be printed"),
    Route("/labels/print", labels.print_them, DECIDE, "POST", "printed labels"),
    Route("/labels/queue", labels.to_queue, DECIDE, "POST", "gave labels to a print queue"),
    Route("/jobs", jobs.timetable_page, place="Jobs"),
    Route("/jobs/{name}", jobs.job),
    Route("/jobs/run", jobs.run_now, DECIDE, "POST", "ran a job"),
    Route("/jobs/pause", jobs.pause, DECIDE, "POST", "paused a job"),
    Route("/jobs/resume", jobs.resume, DECIDE, "POST", "resumed a job"),
    Route("/runs", jobs.runs, place="Runs"),
    Route("/runs/{name}", jobs.run),
    Route("/orders/{name}", documents.order),
    Route("/asns/{name}", documents.asn),
    Route("/service/look", documents.ask, DECIDE, "POST", "asked what the service shows"),
    Route("/me", admin.me),
    Route("/admin", admin.people, ADMIN, place="Admin"),
    Route("/admin/audit", admin.audit, ADMIN),
    Route("/admin/doctor", admin.doctor, ADMIN),
    Route("/admin/metrics", admin.metrics, ADMIN),
    Route("/admin/add", admin.add, ADMIN, "POST", "added a person"),
    Route("/admin/role", admin.change_role, ADMIN, "POST", "changed a role"),
    Route("/admin/reset", admin.reset, ADMIN, "POST", "took a password away"),
    Route("/admin/end", admin.end, ADMIN, "POST", "ended a session or token"),
    Route("/admin/remove", admin.remove, ADMIN, "POST", "removed a person"),
)


def found(method: str, path: str) -> tuple[Route, dict[str, str], bool] | None:
    """The route of an address as it was sent, quoted; what it names, and whether its JSON is meant. None: none fits."""
    for as_json in (True, False):
        for route in ROUTES:
            pattern = route.twin if as_json else route.path
            if not pattern or method != route.method:
                continue
            before, named, after = pattern.partition("{name}")
            if not named and path == pattern:
                return route, {}, as_json
            inside = path[len(before) : len(path) - len(after)]
            if named and inside and path.startswith(before) and path.endswith(after):
                return route, {"name": unquote(inside)}, as_json
    return None


def described() -> dict[str, Any]:
    """The addresses for programs, as OpenAPI describes them."""
    paths: dict[str, Mapping[str, Any]] = {}
    for route in ROUTES:
        if not route.twin:
            continue
        answers = {
            "200": {"description": "What the page shows"},
            "401": {"description": "No token, or none that holds"},
        }
        told: dict[str, Any] = {"get": {"summary": (route.page.__doc__ or "").partition("\n")[0], "responses": answers}}
        if "{name}" in route.path:
            named = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
            told["get"]["parameters"] = [named]
        paths[route.twin] = told
    scheme = {"token": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "logistics-batch", "version": "1"},
        "paths": paths,
        "components": {"securitySchemes": scheme},
        "security": [{"token": []}],
    }
