"""A password in a tracking address is never stored, printed or put in a link."""

from __future__ import annotations

import base64
import json
import logging
import os
import shutil
import sqlite3
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.core.cell import CellResult
from bench.leaderboard.terminal import console, print_where
from bench.store.address import Address
from bench.store.read_sweep import sweeps_of
from bench.store.tag_codec import unpack
from bench.store.tracking import Store, StoreError
from tests.bench.store.test_tracking import cell
from tests.bench.study.test_cross import study
from tests.conftest import node

PASSWORD = "p@ss/w:rd 7"
ENCODED = quote(PASSWORD, safe="")
PLACES = ("http://{}@h:5000", "https://{}@h/x", "postgresql://{}@h/db", "mysql+pymysql://{}@h/db")
typed = st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF), min_size=6).filter(
    lambda text: "*" not in text and text.strip("%/:@") and text.lower() not in "postgresql://host"
)


def blamed(text):
    """Return in which spellings the password stands in a text."""
    ways = (PASSWORD, ENCODED, ENCODED.lower(), quote(PASSWORD), repr(PASSWORD)[1:-1])
    header = base64.b64encode(f"user:{PASSWORD}".encode()).decode()
    return [way for way in (*ways, header) if way in text]


@given(typed, st.sampled_from(PLACES))
def test_no_spelling_of_a_password_survives(password, place):
    encoded = quote(password, safe="")
    address = Address(place.format(f"user:{encoded}"))
    address.check()
    text = f"at {address.uri} with {password!r} or {password} or {encoded} or {encoded.lower()}"
    for told in (address.shown, address.page, address.scrub(text), repr(address)):
        assert encoded not in told
        assert password not in told
    assert address.shown == place.format("***")


def test_keys_in_the_query_are_hidden_and_the_rest_is_shown():
    address = Address("postgresql://h/db?sslmode=require&password=abc123")
    assert address.shown == "postgresql://h/db?sslmode=require&password=***"
    assert address.scrub("require abc123") == "require ***"


@pytest.mark.parametrize(
    "uri", ["sqlite:///a.db", "sqlite:////home/me@work/a.db", "./runs@x", "http://h:5000/x"]
)
def test_addresses_without_a_password_are_left_alone(uri):
    address = Address(uri)
    assert (address.shown, address.for_mlflow, address.secrets) == (uri, uri, ())


@pytest.mark.parametrize("userinfo", ["u:p@ss", "u:p/ss", "u:p?ss", "u:p#ss", "u:p ss"])
def test_a_password_that_is_not_encoded_is_refused_and_not_told(userinfo):
    with pytest.raises(ValueError, match=r"write / \? #") as found:
        Store(f"http://{userinfo}@127.0.0.1:1")
    assert "ss" not in str(found.value).rsplit("got", 1)[1]


@pytest.mark.parametrize("uri", ["postgres://u:{}@h/db", "mysql+nothing://u:{}@h/db"])
def test_errors_of_a_store_do_not_tell_it(uri):
    with pytest.raises(StoreError, match=r"://\*\*\*@h/db") as found:
        Store(uri.format(ENCODED))
    assert blamed(str(found.value)) == []
    assert found.value.__cause__ is None


def test_an_unreachable_server_does_not_tell_it(monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with pytest.raises(StoreError, match=r"http://\*\*\*@127.0.0.1:1: ") as found:
        Store(f"http://user:{ENCODED}@127.0.0.1:1")
    assert blamed(str(found.value)) == []


def test_links_and_commands_do_not_tell_it(capsys):
    print_where(f"http://user:{ENCODED}@h:5000/", "1", "s", console())
    print_where(f"postgresql://user:{ENCODED}@h/db", "1", "s", console())
    out = capsys.readouterr().out
    assert blamed(out) == []
    assert "MLflow: http://h:5000/#/experiments/1/" in out
    assert "--backend-store-uri 'postgresql://***@h/db'" in out


def test_what_a_failed_cell_tells_is_stored_without_it(tmp_path, blank_store, monkeypatch):
    shutil.copy(blank_store, tmp_path / "mlflow.db")
    store = Store(f"sqlite:///{tmp_path}/mlflow.db")
    store._address = Address(f"postgresql://user:{ENCODED}@h/db")
    told = f"KeyError: environ({{'MLFLOW_TRACKING_URI': '{store._address.uri}'}}) {PASSWORD}"
    failed = CellResult(status="failed", facts={"reason": told, "traceback": f"trace\n{told}"})
    experiment_id = store.experiment_id("e")
    store.record(experiment_id, "s", cell(), failed, again=False)
    config = {"tracking_uri": store._address.uri, "show": ["acc"]}
    store.record_sweep(
        experiment_id, sweep="s", experiment="e", title=f"at {store._address.uri}", runs={},
        config=config, tags={},
    )  # fmt: skip
    assert blamed(everything_in(tmp_path / "mlflow.db")) == []
    (sweep,) = sweeps_of(store)
    assert sweep.config == {"tracking_uri": "postgresql://***@h/db", "show": ["acc"]}


def everything_in(path):
    """Return all tags, parameters and names of a store, packed ones unpack."""
    with sqlite3.connect(path) as base:
        tags = base.execute("select run_uuid, key, value from tags").fetchall()
        names = base.execute("select name, value from runs join params using (run_uuid)").fetchall()
    texts = [repr(names), repr(tags)]
    for uuid in {row[0] for row in tags}:
        own = {key: value for run, key, value in tags if run == uuid}
        for name in {key.rpartition(".")[0] for key in own if key.endswith(".000")}:
            value = unpack(name, own)
            texts += [json.dumps(value, ensure_ascii=False), str(value)]
    return "\n".join(texts)


def test_a_failing_cell_that_quotes_the_environment_does_not_tell_it(run, monkeypatch, capfd):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://user:{ENCODED}@h:5000")
    quoting = study({"quoting": node("Quoting", variable="MLFLOW_TRACKING_URI")}, attacks={})
    outcome, _ = run(quoting)
    ((_, result),) = outcome.results
    assert result.status == "failed"
    assert "http://***@h:5000" in result.facts["reason"]
    assert blamed(str(result)) == []
    assert blamed(str(capfd.readouterr())) == []


class Echo(BaseHTTPRequestHandler):
    """A server that wants a password, and tells it in the errors of most requests."""

    def do_GET(self):
        self.answer()

    def do_POST(self):
        self.answer()

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        login = self.headers.get("Authorization")
        good = login == "Basic " + base64.b64encode(f"user:{PASSWORD}".encode()).decode()
        first = good and "experiments/search" in self.path
        body = json.dumps(
            {"experiments": []}
            if first
            else {"error_code": "INTERNAL_ERROR", "message": f"{login} {PASSWORD} {ENCODED}"}
        ).encode()
        self.send_response(200 if first else 400)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as started:
        thread = threading.Thread(target=started.serve_forever)
        thread.start()
        yield started.server_address[1]
        started.shutdown()
        thread.join()


def test_a_server_gets_the_password_and_what_it_echoes_is_not_told(server, monkeypatch, capfd):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.delenv("MLFLOW_TRACKING_PASSWORD", raising=False)
    store = Store(f"http://user:{ENCODED}@127.0.0.1:{server}")
    with pytest.raises(StoreError, match=r"cannot open the store http://\*\*\*@127") as found:
        store.experiment_id("e")
    assert blamed(str(found.value)) == []
    assert blamed(str(capfd.readouterr())) == []
    assert "MLFLOW_TRACKING_PASSWORD" not in os.environ


def test_lines_that_mlflow_logs_do_not_tell_it(server, capfd):
    store = Store(f"http://user:{ENCODED}@127.0.0.1:{server}")
    logging.getLogger("mlflow.store").warning("cannot reach %s", store._address.uri)
    err = capfd.readouterr().err
    assert "cannot reach http://***@127" in err
    assert blamed(err) == []
