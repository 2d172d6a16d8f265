"""Running commands in tests."""

import json
from typing import Any

from typer.testing import CliRunner, Result

from pgfuse.cli import app


def invoke(url: str, *arguments: str, text: str | bytes | None = None, code: int = 0) -> Result:
    """Run a command on a database and check its exit code."""
    result = CliRunner().invoke(app, arguments, input=text, env={"PGFUSE_DATABASE_URL": url, "COLUMNS": "120"})
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def invoke_json(url: str, *arguments: str, text: str | bytes | None = None, code: int = 0) -> Any:
    """What a command prints with --json."""
    return json.loads(invoke(url, *arguments, "--json", text=text, code=code).stdout)


def error(url: str, *arguments: str, code: int = 1) -> str:
    """What a failing command says, on stderr alone and without the frame that usage errors are put in."""
    result = invoke(url, *arguments, code=code)
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    return " ".join(result.stderr.replace("│", " ").split())
