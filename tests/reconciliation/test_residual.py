"""Whatever the legs hold, every line and unit of each stands in exactly one class: else there is no report."""

from datetime import date

import polars as pl
import pytest
from reconciliation.world import World

from logistics_batch.errors import LogisticsBatchError
from logistics_batch.reconciliation import Rules, audit
from logistics_batch.reconciliation.totals import check_residual


def test_a_report_that_does_not_tie_out_is_refused():
    world = World()
    world.both("I1", ("W", "10"))
    found = audit(world.legs(), rules=Rules(business_date=date(2026, 11, 10)))
    lost = found.classes.with_columns(pl.col("qty_announced") - pl.lit("0.001").cast(pl.Decimal(38, 3)))
    with pytest.raises(LogisticsBatchError, match=r'does not tie out: the leg "announced" has 1 lines with 10\.000'):
        check_residual(lost, found.legs)
    check_residual(found.classes, found.legs)
