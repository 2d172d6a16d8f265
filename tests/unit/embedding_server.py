"""An embedding server for tests that misbehaves as it is told to."""

import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from unittest.mock import patch

import numpy as np

from pgfuse.embedders import Vectors
from pgfuse.embedders.openai import OpenAIEmbedder

KEY = "sk-very-secret"
VARIABLES = ("OPENAI_BASE_URL", "OPENAI_API_KEY", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")
Make = Callable[..., OpenAIEmbedder]
Data = list[dict[str, Any]]


@dataclass(frozen=True)
class Answer:
    """One answer: what is wrong with it, everything else being right."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    change: Callable[[Data], Data] = list
    delay: float = 0.0
    cut: int = 0


GOOD = Answer()


class EmbeddingServer:
    """Gives the planned answers, one a request, then good ones; ``requests`` holds what it was sent."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.plan: list[Answer] = []
        self.requests: list[dict[str, Any]] = []
        self.authorizations: list[str | None] = []
        self.url = ""

    def vector(self, text: str) -> list[float]:
        """The right vector of a text: a function of its letters."""
        digest = hashlib.sha256(text.encode()).digest()
        return [byte / 256 for byte in digest[: self.dim]]

    def vectors(self, texts: list[str]) -> Vectors:
        """The right vectors of texts."""
        return np.array([self.vector(text) for text in texts], dtype=np.float32)

    def data(self, request: dict[str, Any]) -> Data:
        """What a good answer carries."""
        return [{"index": index, "embedding": self.vector(text)} for index, text in enumerate(request["input"])]

    def answer(self, request: dict[str, Any], authorization: str | None) -> tuple[Answer, bytes]:
        """Record the request and take the next answer of the plan."""
        self.requests.append(request)
        self.authorizations.append(authorization)
        answer = self.plan.pop(0) if self.plan else GOOD
        body = json.dumps({"data": answer.change(self.data(request))}).encode()
        return answer, body if answer.body is None else answer.body


def _handler(server: EmbeddingServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body leave in one packet; apart, the second would wait for the client's delayed ACK.
        wbufsize = -1

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer, body = server.answer(request, self.headers["Authorization"])
            time.sleep(answer.delay)
            self.send_response(answer.status if self.path == "/v1/embeddings" else 404)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) - answer.cut])
            self.close_connection = bool(answer.cut)

        def log_message(self, *args: Any) -> None:
            """Keep the test output clean."""

    return Handler


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up waiting is part of the test."""


@contextmanager
def embedding_server(dim: int = 4) -> Iterator[EmbeddingServer]:
    """Run a server on a free port of this machine, out of reach of the environment's proxies and keys."""
    server = EmbeddingServer(dim)
    with patch.dict(os.environ), _Quiet(("127.0.0.1", 0), _handler(server)) as http:
        for name in VARIABLES:
            os.environ.pop(name, None)
        server.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            http.shutdown()
            thread.join()


def embedders_of(server: EmbeddingServer, waits: list[float]) -> Make:
    """Return a maker of embedders that ask this server and note their waits instead of sleeping."""

    def make(model: str = "house-model", **options: Any) -> OpenAIEmbedder:
        defaults: dict[str, Any] = {"base_url": server.url, "api_key": KEY, "sleep": waits.append}
        return OpenAIEmbedder(model, **(defaults | options))

    return make
