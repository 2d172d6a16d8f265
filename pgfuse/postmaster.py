"""What the embedded server's files and processes say, and the account and folders it needs."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from psycopg import pq
from psycopg.conninfo import make_conninfo

from pgfuse.errors import DatabaseUnavailable

ACCOUNT = "embedded_postgres"
NO_SUCH_PID = 2**22 + 1  # above the largest process number of Linux and macOS


@dataclass(frozen=True)
class State:
    """The lines of `postmaster.pid` that matter here."""

    pid: int
    port: int
    socket_dir: str
    listens: bool
    status: str


def read(cluster: Path) -> State | None:
    """What the server last wrote about itself; none when it is stopped, or has only begun to start."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        lines = [line.strip() for line in (cluster / "postmaster.pid").read_text().splitlines()]
        return State(int(lines[0]), int(lines[3]), lines[4], bool(lines[5]), lines[7])
    return None


def is_alive(cluster: Path) -> bool:
    """Whether the process named in `postmaster.pid` is this cluster's server, and not another with its number."""
    import psutil

    with contextlib.suppress(OSError, ValueError, IndexError, psutil.Error):
        process = psutil.Process(int((cluster / "postmaster.pid").read_text().splitlines()[0]))
        return process.name() == "postgres" and str(cluster) in process.cmdline()
    return False


def answers(state: State) -> bool:
    """Whether the server takes connections: one that was killed a moment ago still looks alive, and ready."""
    address = make_conninfo(host=state.socket_dir, port=state.port, user="postgres", dbname="postgres")
    return pq.PGconn.ping(address.encode()) == pq.Ping.OK


def settle(cluster: Path, *, seconds: float) -> State | None:
    """The running server's state, after waiting for one that starts or stops; none when it has to be started."""
    deadline = time.monotonic() + seconds
    while is_alive(cluster):
        state = read(cluster)
        if state and state.status == "ready" and answers(state):
            return state
        if time.monotonic() > deadline:
            raise DatabaseUnavailable(f"The embedded server in {cluster} neither starts nor stops. See its log.")
        time.sleep(0.05)
    disown(cluster)
    return None


def disown(cluster: Path) -> None:
    """Put a number that no process has into a left-over `postmaster.pid`.

    A stranger may have got the dead server's number, and PostgreSQL would then refuse to start. Its other check,
    that no orphan still uses the shared memory named in that file, has to stay, so the file is not removed.
    """
    path = cluster / "postmaster.pid"
    with contextlib.suppress(FileNotFoundError):
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join([f"{NO_SUCH_PID}\n", *lines[1:]]))


def account() -> pwd.struct_passwd | None:
    """The account the server runs under when started by root, which PostgreSQL refuses to serve."""
    if os.geteuid() != 0:
        return None
    with contextlib.suppress(KeyError):
        return pwd.getpwnam(ACCOUNT)
    useradd = shutil.which("useradd") or "/usr/sbin/useradd"
    try:
        subprocess.run([useradd, "--system", "--shell", "/bin/false", ACCOUNT], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise DatabaseUnavailable(
            f"PostgreSQL does not run as root, and the account {ACCOUNT} could not be made ({error}). "
            "Run pgfuse as an ordinary user, or pass --database-url."
        ) from error
    return pwd.getpwnam(ACCOUNT)


def open_way(path: Path, account: pwd.struct_passwd) -> None:
    """Let the server's account pass through the folders above `path`; nobody is given the right to list them."""
    for folder in path.resolve().parents:
        found = folder.stat()
        if found.st_mode & stat.S_IXOTH or (found.st_gid == account.pw_gid and found.st_mode & stat.S_IXGRP):
            continue
        if found.st_mode & stat.S_IRWXG:
            folder.chmod(found.st_mode | stat.S_IXOTH)
        else:
            os.chown(folder, -1, account.pw_gid)
            folder.chmod(found.st_mode | stat.S_IXGRP)


def private_folder(cluster: Path, account: pwd.struct_passwd | None) -> Path:
    """A folder with a short name, of the server's own, for the socket of this cluster."""
    owner = account.pw_uid if account else os.geteuid()
    name = hashlib.sha256(os.fsencode(cluster)).hexdigest()[:12]
    folder = Path(tempfile.gettempdir(), f"pgfuse-{owner}-{name}")
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
        os.chown(folder, owner, -1)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != owner or found.st_mode & 0o077:
        raise DatabaseUnavailable(f"{folder} is somebody else's. Remove it, or set PGFUSE_HOME to a shorter path.")
    return folder
