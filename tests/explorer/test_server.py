from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import interlingua
from clients import Client
from interlingua.cli import explore
from interlingua.explorer.explorer import Explorer
from interlingua.explorer.model_queue import ModelQueue
from interlingua.explorer.response_cache import AnswerCache
from interlingua.explorer.server import LARGEST, STRANGERS, ExplorerServer

PAIR = {"source": "The tap is leaking.", "target": "El grifo gotea.", "source_language": "en", "target_language": "es"}


def test_a_first_visit_leaves_the_token_in_a_cookie_and_nowhere_else(client: Client) -> None:
    gate = client.server.gate
    first = client.ask("GET", f"/?token={gate.token}", Cookie=None)
    assert (first.status, first.headers["location"]) == (303, "/")
    assert "HttpOnly" in first.headers["set-cookie"]
    page = client.ask("GET", "/", Cookie=first.headers["set-cookie"].partition(";")[0])
    assert page.status == 200
    everything = page.body + client.ask("GET", "/api/setup").body + client.post("pair", PAIR).body
    assert gate.token.encode() not in everything


def test_tokens_are_new_each_time_and_long(explorer: Explorer) -> None:
    servers = [ExplorerServer(explorer) for _ in range(3)]
    try:
        assert len({server.gate.token for server in servers}) == 3
        assert all(len(server.gate.token) >= 43 for server in servers)
        assert all(server.server_address[0] == "127.0.0.1" for server in servers)
    finally:
        for server in servers:
            server.server_close()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Cookie": None}, 403),
        ({"Cookie": "interlingua-0=wrong"}, 403),
        ({"Cookie": "{name}=wrong"}, 403),
        ({"Cookie": "{name}="}, 403),
        ({"Cookie": None, "X_Interlingua_Token": "wrong"}, 403),
        ({"X_Interlingua_Token": ""}, 403),
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:{port}"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Host": None}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://localhost:1"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": None}, 403),
    ],
)
def test_a_request_that_is_not_the_pages_own_is_refused(client: Client, headers: dict[str, Any], status: int) -> None:
    port = client.server.gate.port
    filled = {name: value and value.format(port=port, name=f"interlingua-{port}") for name, value in headers.items()}
    found = client.post("pair", PAIR, **filled)
    assert found.status == status
    assert set(found.json) == {"error"}
    if "Origin" not in headers:
        assert client.ask("GET", "/api/setup", **filled).status == status
        assert client.ask("GET", "/", **filled).status == status


def test_a_wrong_token_in_the_address_opens_nothing(client: Client) -> None:
    assert client.ask("GET", "/?token=wrong", Cookie=None).status == 403
    assert client.ask("GET", f"/?token={client.server.gate.token[:-1]}", Cookie=None).status == 403
    right = f"/?token={client.server.gate.token}"
    assert client.ask("GET", right, Cookie=None, Host="evil.example").status == 421


def test_a_program_may_send_the_token_in_a_header(client: Client) -> None:
    token = client.server.gate.token
    assert client.post("pair", PAIR, Cookie=None, Origin=None, X_Interlingua_Token=token).status == 200


def test_ten_megabytes_are_refused_and_not_read(client: Client) -> None:
    body = json.dumps({**PAIR, "source": "x" * (10 << 20)}).encode()
    found = client.ask("POST", "/api/pair", body)
    assert found.status == 413
    assert str(LARGEST >> 10) in found.json["error"]
    assert client.ask("POST", "/api/pair", b"", Content_Length=str(10**18)).status == 413
    assert client.post("pair", PAIR).status == 200


@pytest.mark.parametrize("length", ["-1", "+5", "5_0", "٥", "", None])
def test_a_length_that_is_none_is_refused(client: Client, length: str | None) -> None:
    headers = {"Content_Length": None if length is None else length.encode().decode("latin-1")}
    assert client.ask("POST", "/api/pair", None, **headers).status == 411


def test_a_chunked_body_is_refused(client: Client) -> None:
    assert client.ask("POST", "/api/pair", None, Transfer_Encoding="chunked").status == 411


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ([], "no JSON object"),
        ({}, "a request lacks source, target"),
        ({**PAIR, "sorce": "x"}, "Did you mean 'source'"),
        ({**PAIR, "source": 5}, "source is of the wrong kind"),
        ({**PAIR, "centred": 1}, "centred is of the wrong kind"),
        ({**PAIR, "source": "x" * 1001}, "1001 characters"),
        ({**PAIR, "source": ""}, "without a word"),
        ({**PAIR, "source": "\ud800"}, "half a character"),
        ({**PAIR, "source": "a!" * 300}, "reads 1 to"),
        ({**PAIR, "source_language": "zz"}, "unknown language of the corpus"),
        ({**PAIR, "linking": "armax"}, "Did you mean 'argmax'"),
    ],
)
def test_a_wrong_request_is_told_what_is_wrong(client: Client, asked: object, told: str) -> None:
    found = client.post("pair", asked)
    assert found.status == 400
    assert told in found.json["error"]


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[" * 5000, b'{"source": NaN}'])
def test_what_is_no_json_is_told_so(client: Client, body: bytes) -> None:
    assert client.ask("POST", "/api/pair", body).status == 400


@pytest.mark.parametrize("path", ["/..%2f..%2fetc/passwd", "/../server.py", "/api/", "/api/warm", "/x"])
def test_nothing_else_is_here(client: Client, path: str) -> None:
    assert client.ask("GET", path).status == 404
    assert client.ask("POST", path, b"{}").status == 404


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_address_that_cannot_be_read_is_one_where_nothing_is(
    client: Client, method: str, capfd: pytest.CaptureFixture[str]
) -> None:
    reply = client.ask(method, "http://[", b"{}" if method == "POST" else None)
    assert reply.status == 404
    assert client.ask(method, "http://[", b"", Host="evil.example").status == 421
    assert capfd.readouterr().err == ""


def test_what_was_asked_takes_room_as_answers_do() -> None:
    kept = AnswerCache(room=1000)
    for number in range(100):
        kept.put(f"{number:100}", b"{}")
    assert sum(kept.get(f"{number:100}") is not None for number in range(100)) == 1000 // 102
    kept.put("x" * 2000, b"")
    assert kept.get("x" * 2000) is None


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "HEAD", "TRACE"])
def test_other_methods_are_not_known_and_repeat_nothing(client: Client, method: str) -> None:
    found = client.ask(method, "/<script>alert(1)</script>")
    assert found.status == 501
    assert found.body == b""


@pytest.mark.parametrize("path", ["/", "/explore.js", "/explore.css", "/house.css", "/api/setup", "/missing"])
def test_every_answer_has_the_headers_that_keep_a_page_in(client: Client, path: str) -> None:
    found = client.ask("GET", path)
    policy = found.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert found.headers["x-content-type-options"] == "nosniff"
    assert found.headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in found.headers


def test_the_page_names_no_other_host(client: Client) -> None:
    for path in client.server.pages:
        text = client.ask("GET", path).body.decode()
        assert "//" not in text.replace("http://www.w3.org/2000/svg", "").replace("\n// ", "\n").removeprefix("// ")


def test_parallel_clients_get_what_one_would(client: Client, explorer: Explorer) -> None:
    corpus = explorer.corpus
    asked = [
        {**PAIR, "source": corpus.texts["en"][row], "target": corpus.texts["es"][row], "row": row} for row in range(8)
    ]
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda one: client.post("pair", one), asked * 2))
    assert [each.status for each in found] == [200] * 16
    for one, each in zip(asked * 2, found, strict=True):
        assert each.json == json.loads(json.dumps(explorer.pair(one)))


def test_a_busy_model_says_so(explorer: Explorer) -> None:
    turns = ModelQueue(waiting=0)
    with ExplorerServer(explorer, turns=turns) as server, turns.one():
        found = Client(server).post("pair", PAIR)
        assert found.status == 503
        assert "busy" in found.json["error"]
        assert found.headers["retry-after"] == "1"
        rows = {"source_language": "en", "target_language": "es"}
        assert Client(server).post("rows", rows).status == 200  # It needs no turn.


def test_an_answer_given_before_waits_for_nobody(client: Client) -> None:
    first = client.post("pair", PAIR)
    with client.server.turns.one():
        assert client.post("pair", PAIR).body == first.body


def test_nobody_computes_for_a_client_that_went_away(explorer: Explorer, monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[object] = []
    monkeypatch.setattr(Explorer, "pair", lambda self, asked: computed.append(asked) or {})
    turns = ModelQueue()
    with ExplorerServer(explorer, turns=turns) as server:
        with turns.one():
            gate = server.gate
            body = json.dumps(PAIR).encode()
            gone = socket.create_connection(("127.0.0.1", gate.port))
            head = f"POST /api/pair HTTP/1.1\r\nHost: {gate.hosts[0]}\r\nX-Interlingua-Token: {gate.token}\r\n"
            gone.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            end = time.monotonic() + 60
            while not turns._queue and time.monotonic() < end:
                time.sleep(0.005)
            assert turns._queue
            gone.close()
        assert Client(server).post("pair", {**PAIR, "row": 1}).status == 200
    assert computed == [{**PAIR, "row": 1}]


def test_a_stopped_server_is_gone_and_stops_at_once(explorer: Explorer) -> None:
    server = ExplorerServer(explorer)
    with server:
        idle = http.client.HTTPConnection("127.0.0.1", server.gate.port)  # It must not hold up the stop.
        idle.request("GET", "/", headers={"X-Interlingua-Token": server.gate.token})
        assert idle.getresponse().read()
        begun = time.monotonic()
    assert time.monotonic() - begun < 3
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.gate.port))


def test_an_answer_that_takes_too_long_is_not_waited_for(
    server: ExplorerServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()
    monkeypatch.setattr(Explorer, "pair", lambda self, asked: {"waited": go.wait(10)})
    monkeypatch.setattr(ExplorerServer, "limit", 0.05)
    found = client.post("pair", PAIR)
    assert found.status == 503
    assert "No answer within" in found.json["error"]
    go.set()
    monkeypatch.setattr(ExplorerServer, "limit", 10.0)
    assert client.post("pair", {**PAIR, "row": 2}).json == {"waited": True}


def test_cookies_of_other_programs_on_this_machine_do_no_harm(client: Client) -> None:
    own = client.server.gate.cookie.partition(";")[0]
    strange = f'a={{"b": "c, d"}}; é=1; =; interlingua-1=x; {own}; z'
    assert client.ask("GET", "/api/setup", Cookie=strange).status == 200


def test_an_unexpected_failure_is_told_without_its_inside(
    client: Client, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Explorer, "pair", lambda *_: 1 / 0)
    found = client.post("pair", PAIR)
    assert found.status == 500
    assert b"division" not in found.body
    assert "ZeroDivisionError" in capfd.readouterr().err


@pytest.mark.parametrize("sign", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.heavy)])
def test_the_command_prints_its_address_and_stops_cleanly(bert_folder: Path, tmp_path: Path, sign: int) -> None:
    (tmp_path / "tea.tsv").write_text("en\tes\nThe tap.\tEl grifo.\nEmpires rise.\tLos imperios.\n", "utf-8")
    command = [sys.executable, "-m", "interlingua", "explore", str(bert_folder), "--corpus", str(tmp_path / "tea.tsv")]
    source = str(Path(interlingua.__file__).parents[1])
    process = subprocess.Popen(
        [*command, "--no-browser", "--json", "--port", "0", "--cache", "none"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": source},
    )
    watch = threading.Timer(120, process.kill)
    watch.start()
    try:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        with pytest.raises(http.client.HTTPException), socket.create_connection(("127.0.0.1", told["port"])):
            raise http.client.HTTPException  # It listens.
        process.send_signal(sign)
        out, err = process.communicate(timeout=60)
    finally:
        watch.cancel()
        process.kill()
    assert process.returncode == 0, err
    assert out == ""
    assert err.endswith("stopped\n")
    assert "Traceback" not in err


def dripped(connection: socket.socket, drop: bytes, *, seconds: float) -> float:
    """How long a connection takes drops of a request, at most so many seconds."""
    began = time.monotonic()
    with contextlib.suppress(ConnectionError):
        while time.monotonic() - began < seconds:
            connection.sendall(drop)
            time.sleep(0.05)
    return time.monotonic() - began


def slow(server: ExplorerServer, sent: bytes = b"GET / HT") -> socket.socket:
    """A connection of somebody who has no token, and sends no more than this."""
    found = socket.create_connection(("127.0.0.1", server.gate.port), timeout=60)
    found.sendall(sent)
    return found


@pytest.mark.reliability("slow connections to the explorer")
@pytest.mark.parametrize("sent", [b"", b"G", b"GET / HTTP/1.1\r\nHost: x\r\nX-A: ", b"POST /api/pair HTTP/1.1\r\n"])
def test_connections_without_a_token_never_lock_the_owner_out(client: Client, sent: bytes) -> None:
    strangers = [slow(client.server, sent) for _ in range(2 * STRANGERS + 50)]
    try:
        for _ in range(3):
            assert client.ask("GET", "/api/setup").status == 200
        assert len(client.server._strangers) <= STRANGERS
    finally:
        for each in strangers:
            each.close()


@pytest.mark.reliability("slow connections to the explorer")
@pytest.mark.parametrize("token", [False, True])
def test_a_request_that_drips_in_has_one_deadline_as_a_whole(
    server: ExplorerServer, monkeypatch: pytest.MonkeyPatch, token: bool
) -> None:
    monkeypatch.setattr("interlingua.explorer.server.HURRY", 0.5)
    given = f"X-Interlingua-Token: {server.gate.token}\r\n" if token else ""
    with slow(server, f"POST /api/pair HTTP/1.1\r\nHost: {server.gate.hosts[0]}\r\n{given}".encode()) as dripping:
        assert dripped(dripping, b"X-Drip: 1\r\n", seconds=20) < 15


@pytest.mark.reliability("slow connections to the explorer")
def test_a_refused_body_that_drips_in_is_not_read_for_ever(server: ExplorerServer) -> None:
    with slow(server, b"POST /api/pair HTTP/1.1\r\nHost: evil\r\nContent-Length: 30000000\r\n\r\n") as dripping:
        assert dripped(dripping, b"x", seconds=25) < 20


@pytest.mark.reliability("slow connections to the explorer")
def test_a_client_that_has_said_all_gets_its_answer(client: Client, explorer: Explorer) -> None:
    gate, body = client.server.gate, json.dumps(PAIR).encode()
    head = f"POST /api/pair HTTP/1.1\r\nHost: {gate.hosts[0]}\r\nX-Interlingua-Token: {gate.token}\r\n"
    for version in ("1.1", "1.0"):
        with slow(client.server, b"") as half:
            sent = f"{head.replace('1.1', version)}Content-Length: {len(body)}\r\n\r\n".encode() + body
            half.sendall(sent)
            half.shutdown(socket.SHUT_WR)
            found = b"".join(iter(lambda: half.recv(1 << 16), b""))
        assert b" 200 OK\r\n" in found
        assert json.loads(found.rpartition(b"\r\n\r\n")[2]) == json.loads(json.dumps(explorer.pair(PAIR)))


@pytest.mark.reliability("the token of the explorer in a command line")
def test_no_command_line_has_the_token(server: ExplorerServer, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    with explore._opened(server.gate.address):
        page = Path(opened[0].removeprefix("file://"))
        assert server.gate.token not in opened[0]
        assert f"url={server.gate.address}" in page.read_text("utf-8")
        assert (page.stat().st_mode & 0o077, page.parent.stat().st_mode & 0o077) == (0, 0)
    assert not page.parent.exists()
