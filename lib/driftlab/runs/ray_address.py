"""The address of a Ray cluster, and whether one answers there."""

from __future__ import annotations

import os
import re
import socket
import time

from driftlab.core.errors import ParameterError

TIMEOUT = 30.0
"""Seconds within which a cluster has to answer. Ray itself tries for minutes and then ends the process."""
_HOST_AND_PORT = re.compile(r"(?P<host>\[[0-9a-fA-F:.]+\]|[^\s:/\[\]]+):(?P<port>\d{1,5})")
# The beginning of every connection of HTTP/2, which gRPC and so Ray speaks, and an empty SETTINGS frame.
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
_SETTINGS = 4
_ADVICE = (
    "Set the environment variable RAY_ADDRESS to HOST:PORT of the cluster's head (`ray start --head` prints "
    "it; the usual port is 6379), or unset it to compute on this machine."
)


def check_address(address: str) -> None:
    """Refuse an address of another form than `local`, `auto` or `HOST:PORT`.

    Raises:
        ParameterError: It has another form, such as `ray://HOST:PORT`.
    """
    if address in ("local", "auto"):
        return
    if (scheme := re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*(?=://)", address)) is not None:
        raise ParameterError(
            f"RAY_ADDRESS is {address!r}: addresses that begin with {scheme[0]}:// (Ray Client, job servers) "
            f"are not supported. {_ADVICE}"
        )
    match = _HOST_AND_PORT.fullmatch(address)
    if match is None or not 0 < int(match["port"]) < 2**16:
        raise ParameterError(f"RAY_ADDRESS is {address!r}, which is not HOST:PORT. {_ADVICE}")


def require_cluster(address: str, timeout: float = TIMEOUT) -> None:
    """Ask whether a Ray cluster answers at `HOST:PORT`; for `local` and `auto`, Ray itself looks.

    Args:
        address: As of `check_address`.
        timeout: Seconds until an address that does not answer is given up.

    Raises:
        ParameterError: Nothing answers there, or something that is not Ray.
    """
    match = _HOST_AND_PORT.fullmatch(address)
    if match is None:
        return
    deadline = time.monotonic() + timeout
    try:
        with socket.create_connection((match["host"].strip("[]"), int(match["port"])), timeout) as connection:
            if os.environ.get("RAY_USE_TLS", "0") not in ("", "0"):
                return  # the handshake is Ray's
            connection.sendall(_PREFACE)
            header = _receive(connection, 9, deadline)
    except OSError as error:
        raise no_cluster(address, error.strerror or str(error)) from error
    if len(header) < 9 or header[3] != _SETTINGS:
        raise no_cluster(address, "another program than Ray answers there")


def no_cluster(address: str, problem: str) -> ParameterError:
    """The error for an address at which there is no cluster."""
    return ParameterError(f"There is no Ray cluster to be reached at {address} ({problem}). {_ADVICE}")


def _receive(connection: socket.socket, size: int, deadline: float) -> bytes:
    content = b""
    while len(content) < size:
        connection.settimeout(max(0.01, deadline - time.monotonic()))
        part = connection.recv(size - len(content))
        if not part:
            break
        content += part
    return content
