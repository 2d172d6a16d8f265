"""Talking to an embedding server over HTTP."""

import weakref
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2

from pgfuse.embedders.pace import Pace
from pgfuse.embedders.retry import Retry, TransientError
from pgfuse.errors import EmbedderError, InvalidInput

RETRIED = frozenset({408, 429})
WORDS = 500


class Server:
    """A server that takes and returns JSON; its key is sent and never shown."""

    def __init__(self, base_url: str, api_key: str | None, *, timeout: float, retry: Retry, pace: Pace) -> None:
        self._url = _checked_url(base_url)
        self._key = _checked_key(api_key)
        self._retry = retry
        self._pace = pace
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        self._client = httpx2.Client(timeout=timeout, headers=headers)
        weakref.finalize(self, self._client.close)

    def post(self, path: str, payload: dict[str, Any]) -> dict[str, Any]:
        """Send the payload and return the answer, trying again where that may help."""
        url = f"{str(self._url).rstrip('/')}/{path}"
        answer = self._retry.call(lambda: self._post_once(url, payload))
        if not isinstance(answer, dict) or answer.get("error"):
            raise EmbedderError(f"{self._shown} answered with an error: {self._words(answer)}")
        return answer

    def _post_once(self, url: str, payload: dict[str, Any]) -> Any:
        self._pace.wait()
        try:
            response = self._client.post(url, json=payload)
        except httpx2.TimeoutException as exc:
            raise TransientError(f"{self._shown} did not answer in time.") from exc
        except httpx2.RequestError as exc:
            raise TransientError(
                f"{self._shown} could not be reached or broke off: {exc or type(exc).__name__}."
            ) from exc
        self._check_status(response)
        try:
            return response.json()
        except ValueError as exc:
            raise TransientError(f"{self._shown} sent an answer that is not complete JSON.") from exc

    def _check_status(self, response: httpx2.Response) -> None:
        if response.is_success:
            return
        said = _json_or_text(response)
        message = f"{self._shown} refused with HTTP {response.status_code}: {self._words(said)}"
        if (response.status_code in RETRIED or response.status_code >= 500) and not _out_of_quota(said):
            raise TransientError(message, _retry_after(response.headers))
        raise EmbedderError(message)

    @property
    def _shown(self) -> str:
        # Without the user and password a URL may carry.
        return f"The embedding server {self._url.scheme}://{self._url.netloc.decode()}{self._url.path}"

    def _words(self, said: Any) -> str:
        if isinstance(said, dict):
            error = said.get("error") or said
            said = error.get("message") or error.get("detail") or error if isinstance(error, dict) else error
        words = str(said)
        return (words.replace(self._key, "***") if self._key else words)[:WORDS]


def _checked_url(base_url: str) -> httpx2.URL:
    try:
        url = httpx2.URL(base_url)
    except (httpx2.InvalidURL, TypeError) as exc:
        raise InvalidInput(f"The embedding server's base_url is not a URL: {exc}") from exc
    if url.scheme not in ("http", "https") or not url.host:
        raise InvalidInput("The embedding server's base_url must start with http:// or https:// and name a host.")
    return url


def _checked_key(api_key: str | None) -> str | None:
    key = api_key.strip() if api_key else None
    # An HTTP library would show such a key in its own error.
    if key and not (key.isascii() and key.isprintable()):
        raise InvalidInput("The API key has characters that cannot be sent in an HTTP header.")
    return key or None


def _json_or_text(response: httpx2.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        return response.text.strip() or response.reason_phrase


def _out_of_quota(said: Any) -> bool:
    # OpenAI sends 429 for an account without credit too, which no waiting cures.
    error = said.get("error") if isinstance(said, dict) else None
    return isinstance(error, dict) and error.get("code") == "insufficient_quota"


def _retry_after(headers: httpx2.Headers) -> float | None:
    """Read ``retry-after-ms`` or ``Retry-After``, which holds seconds or a date."""
    for name, read in (("retry-after-ms", _milliseconds), ("retry-after", float), ("retry-after", _until)):
        try:
            return max(0.0, read(headers[name]))
        except (KeyError, ValueError, TypeError):
            continue
    return None


def _milliseconds(value: str) -> float:
    return float(value) / 1000


def _until(value: str) -> float:
    return (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
