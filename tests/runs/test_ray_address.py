"""Addresses of Ray clusters: what is refused at once, and what answers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from driftlab.core.errors import ParameterError
from driftlab.runs import ray_address
from driftlab.runs.engines import make_engine
from driftlab.runs.ray_address import check_address, require_cluster
from toy_experiment import DATA, Toy

UNREACHABLE = "There is no Ray cluster to be reached at {} "


@pytest.mark.parametrize("address", ["local", "auto", "10.0.0.1:6379", "head.cluster:6379", "[::1]:6379"])
def test_forms_that_are_known(address: str) -> None:
    check_address(address)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("ray://127.0.0.1:10001", r"begin with ray:// \(Ray Client, job servers\) are not supported"),
        ("http://127.0.0.1:8265", "begin with http://"),
        ("anyscale://cluster", "begin with anyscale://"),
        ("127.0.0.1", r"'127\.0\.0\.1', which is not HOST:PORT"),
        ("head:port", "which is not HOST:PORT"),
        (":", "which is not HOST:PORT"),
        ("head:0", "which is not HOST:PORT"),
        ("head:70000", "which is not HOST:PORT"),
    ],
)
def test_other_forms_are_refused_when_the_engine_is_made(
    address: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(ParameterError, match=rf"RAY_ADDRESS is .*{message}.*Set the environment variable"):
        make_engine("ray", 2)


class Server:
    """Accepts connections, and answers each with the same bytes; with none it stays silent."""

    def __init__(self, answer: bytes | None) -> None:
        self._socket, self._answer = socket.create_server(("127.0.0.1", 0)), answer
        self._connections: list[socket.socket] = []
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self._connections.append(connection)
            if self._answer is not None:
                connection.sendall(self._answer)
                connection.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        for one in (self._socket, *self._connections):
            one.close()


@pytest.fixture
def serve() -> Iterator[Any]:
    servers: list[Server] = []

    def start(answer: bytes | None) -> str:
        servers.append(Server(answer))
        return servers[-1].address

    yield start
    for server in servers:
        server.close()


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (None, r"\(timed out\)"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", r"\(another program than Ray answers there\)"),
        (b"", r"\(another program than Ray answers there\)"),
    ],
)
def test_what_accepts_connections_and_is_not_ray(serve: Any, answer: bytes | None, problem: str) -> None:
    address = serve(answer)
    with pytest.raises(ParameterError, match=UNREACHABLE.format(address) + problem):
        require_cluster(address, timeout=0.5)


def test_nothing_listens(serve: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    with pytest.raises(ParameterError, match=r"Connection refused.*Set the environment variable RAY_ADDRESS"):
        require_cluster(address)


def test_an_answer_as_grpc_gives_it(serve: Any) -> None:
    require_cluster(serve(bytes([0, 0, 6, 4, 0, 0, 0, 0, 0]) + bytes(6)))


def test_the_limit_is_half_a_minute() -> None:
    assert ray_address.TIMEOUT == 30


def test_what_ray_raises_is_told_in_our_words(
    serve: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import ray

    def init(**options: Any) -> None:
        assert "num_cpus" not in options, "a cluster's size is its own"
        raise AssertionError(f"asked for {options['address']}")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setenv("RAY_ADDRESS", address := serve(bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])))
    with pytest.raises(ParameterError, match=rf"{address} \(AssertionError: asked for {address}\)"):
        make_engine("ray", 2).start(Toy(str(tmp_path)), DATA)
