"""`pgfuse serve-db`."""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path
from typing import Annotated

import typer

from pgfuse.errors import DatabaseUnavailable

Folder = Annotated[
    Path | None, typer.Option(envvar="PGFUSE_HOME", help="Where the data is kept. Default: the user's data directory.")
]
Port = Annotated[int | None, typer.Option(min=1024, max=65535, help="Also listen on 127.0.0.1 at this port.")]


def command(data_dir: Folder = None, port: Port = None) -> None:
    """Run the embedded PostgreSQL in the foreground and print its URL for other programs."""
    if sys.platform == "win32":
        raise DatabaseUnavailable("The embedded server needs Linux or macOS.")
    from pgfuse import embedded

    asked = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: asked.set())
    with embedded.start(data_dir, port=port) as server:
        typer.echo(server.tcp_url or server.url)
        typer.echo(f"PostgreSQL runs with its data in {server.data_dir}. Press Ctrl-C to stop it.", err=True)
        sys.stdout.flush()
        asked.wait()
        stopped = server.stop()
    typer.echo("Stopped." if stopped else "Left running: another pgfuse process still uses it.", err=True)
