"""A rate over processes: one program sends, others ask, and no second has more calls than the rate allows."""

from bisect import bisect_right
from datetime import datetime
from itertools import count

import pytest
from campaigns.scale import FULL, report
from support.commands import Forker
from support.sandbox_process import RunningSandbox
from support.workspace import Workspace, order_lines

RATES = (20, 150, 500) if FULL else (20,)
SECONDS = 20 if FULL else 4
ASKING = 2  # programs beside the one that sends
ON_THE_WAY = 1.1  # calls that left evenly may arrive closer together where processes wait for a processor
OF_RATE = 0.95


def fullest_second(moments: list[float]) -> int:
    """The most calls that arrived within any second."""
    return max(bisect_right(moments, moment + 1.0 - 1e-6) - place for place, moment in enumerate(moments))


@pytest.mark.slow
@pytest.mark.parametrize("rate", RATES)
def test_no_second_has_more_calls_than_the_rate(
    rate: int, forker: Forker, workspace: Workspace, sandbox: RunningSandbox
) -> None:
    workspace.settings.remove('rate = "none"')
    workspace.configure(f'rate = "{rate}/s"')
    orders = rate * SECONDS
    path = workspace.drop("a.csv", order_lines(f"R-{number}" for number in range(orders)))
    sends = forker.start(workspace, "push", path, "--mapping", "orders")
    asked = 0
    for number in count():
        if sends.wait(seconds=0.01) is not None:
            break
        asks = [forker.start(workspace, "order", "get", f"R-{number}") for _ in range(ASKING)]
        asked += len([ask.end() for ask in asks])
    done = sends.end(seconds=600)
    assert done.code == 0, done.err
    calls = sorted((datetime.fromisoformat(line["at"]).timestamp(), line["method"]) for line in sandbox.received())
    moments = [moment for moment, _ in calls]
    creates = [moment for moment, method in calls if method == "POST"]
    sending = [
        moment for moment in moments if creates[0] <= moment <= creates[-1]
    ]  # the others ask before and after it
    reached = (len(sending) - 1) / (sending[-1] - sending[0])
    fullest = fullest_second(moments)
    report("rates", rate=rate, calls=len(moments), asked=asked, reached=round(reached, 1), fullest_second=fullest)
    assert fullest <= rate * ON_THE_WAY
    assert reached <= rate
    if FULL and rate < 100:  # what a machine can do beyond that, the benchmark tells
        assert reached >= OF_RATE * rate
