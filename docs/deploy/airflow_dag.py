"""A night started by Airflow 3 instead of `schedule`: the same commands, with what their exit codes mean.

The workspace and the program lie on the machine of Airflow's worker. Leave `schedule` out, or pause these jobs there:
`logistics-batch schedule pause orders-standard`.
"""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

RUN = "/opt/logistics-batch/bin/logistics-batch run"
WORKSPACE = "--workspace /srv/night-shift --business-date {{ ds }}"
# 3: some rows are to be corrected, and their senders have the answers. 4: something waits for a person, who is told by
# [notify]; what was accepted goes on. 5 and 75: once more, which goes on where it stopped. 2: nothing was sent.
ENDS_WELL = "; code=$?; case $code in 3|4) exit 0;; *) exit $code;; esac"

with DAG(
    "night-shift",
    schedule="30 21 * * *",
    start_date=datetime(2026, 11, 1, tzinfo=ZoneInfo("Asia/Kolkata")),
    catchup=False,
    max_active_runs=1,
    default_args={"retries": 6, "retry_delay": timedelta(minutes=5), "append_env": True},
):
    orders = BashOperator(task_id="orders", bash_command=f"{RUN} orders-standard {WORKSPACE}{ENDS_WELL}")
    labels = BashOperator(task_id="labels", bash_command=f"{RUN} labels-nightly {WORKSPACE}{ENDS_WELL}")
    orders >> labels
