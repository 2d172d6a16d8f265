"""The server that everything is measured on: an embedded one in a temporary folder, with room for its data."""

import os
import platform
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from typing import Any

import psycopg
from psycopg import sql
from sqlalchemy import make_url

from pgfuse import embedded, migrate

# work_mem stays as it is; no background work disturbs what is measured, and nothing here has to survive a crash
SETTINGS = {"autovacuum": "off", "fsync": "off", "full_page_writes": "off", "max_wal_size": "16GB"}
BUFFERS_MB = 4096
SHOWN = ("server_version", "shared_buffers", "maintenance_work_mem", "work_mem", "autovacuum", "fsync")
PACKAGES = ("pgfuse", "psycopg", "numpy", "wordllama", "bm25s", "langchain-postgres")
PACKAGES += ("llama-index-vector-stores-postgres", "matplotlib")


@contextmanager
def started(*, quick: bool) -> Iterator[str]:
    """The URL of a server with raised buffers."""
    with tempfile.TemporaryDirectory(prefix="pgfuse-bench-") as folder:
        with embedded.start(folder) as server, psycopg.connect(server.url, autocommit=True) as conn:
            for name, value in (SETTINGS | _buffers(quick=quick)).items():
                conn.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        with embedded.start(folder) as server:
            yield server.url


def _buffers(*, quick: bool) -> dict[str, str]:
    """At most a quarter of the machine's memory for the data, and half as much for building indexes."""
    size = 1024 if quick else min(BUFFERS_MB, _memory() // 2**20 // 4)
    return {"shared_buffers": f"{size}MB", "maintenance_work_mem": f"{size // 2}MB"}


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def make_database(url: str, name: str) -> str:
    """A new, empty database on the server."""
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    return make_url(url).set(database=name).render_as_string(hide_password=False)


def make_migrated(url: str, name: str, *, dim: int = 256, model: str = "wordllama") -> str:
    """A new database with pgfuse in it."""
    made = make_database(url, name)
    migrate.upgrade(made, dim=dim, model=model)
    return made


def drop_database(url: str, name: str) -> None:
    """Give its space back."""
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def describe(url: str) -> dict[str, Any]:
    """The machine, the server's settings and the versions that figures stand on."""
    with psycopg.connect(url) as conn:
        settings = {name: conn.execute(f"SHOW {name}").fetchone()[0] for name in SHOWN}
        query = "SELECT default_version FROM pg_available_extensions WHERE name = 'vector'"
        settings["pgvector"] = conn.execute(query).fetchone()[0]
    machine = {"system": platform.platform(), "processor": platform.processor() or platform.machine()}
    machine |= {"cores": os.cpu_count(), "memory_gb": round(_memory() / 2**30, 1), "python": platform.python_version()}
    return machine | {"server": settings, "packages": {name: _version(name) for name in PACKAGES}}


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
