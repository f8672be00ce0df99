"""The pages where people decide. `application` is the whole of it; a page is a function and the template beside it."""

from logistics_batch.web.workbench.application import Workbench
from logistics_batch.web.workbench.asked import KnownJobs, Moved, PageData, PageRequest, Surface
from logistics_batch.web.workbench.people import Role

__all__ = ["KnownJobs", "Moved", "PageData", "PageRequest", "Role", "Surface", "Workbench"]
