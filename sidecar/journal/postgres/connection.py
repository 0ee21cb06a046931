"""Connections to the database: where it is, what counts as losing it, and how long anything waits for it."""

import asyncio
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

#: The connection is gone, or the database takes no writes now; a later try may succeed.
LOST = (psycopg.OperationalError, psycopg.InterfaceError, psycopg.errors.ReadOnlySqlTransaction, OSError, TimeoutError)
SCHEMA = "brain"
CONNECT_SECONDS = 5
#: A statement that takes longer is given up, and so is a server that doesn't answer.
STATEMENT_SECONDS = 20
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 1.0


def address(url: str, schema: str) -> str:
    """The connection string with our limits; those of the URL win."""
    given = conninfo_to_dict(url)
    options = f"-c search_path={schema} -c statement_timeout={STATEMENT_SECONDS * 1000} {given.pop('options', '')}"
    limits = {
        "application_name": "rainy-brain",
        "connect_timeout": CONNECT_SECONDS,
        "keepalives_idle": 5,
        "keepalives_interval": 2,
        "keepalives_count": 3,
        "tcp_user_timeout": STATEMENT_SECONDS * 1000,
    }
    merged: dict[str, Any] = {**limits, **given, "options": options.strip()}
    return make_conninfo(**merged)


def shown(url: str) -> str:
    """The URL without its password."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()


async def connect(conninfo: str) -> psycopg.AsyncConnection[Any]:
    async with asyncio.timeout(CONNECT_SECONDS):
        return await psycopg.AsyncConnection.connect(conninfo, autocommit=True)


def first_line(error: BaseException) -> str:
    """What the database says goes on with advice for its administrator."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")


def explain(error: BaseException) -> str:
    return (
        f"The database doesn't answer or takes no writes ({first_line(error)}). "
        "Running tasks have paused and nothing is lost; they continue by themselves once it is back."
    )


def without_zeros(text: str) -> str:
    """The database takes no zero character."""
    return text.replace("\0", "\ufffd")
