"""Notifications by e-mail. `BRAIN_SMTP_URL` is `smtp://` or `smtps://`, with user and password; `?from=` the sender."""

import asyncio
import hashlib
import json
import smtplib
import ssl
from collections.abc import Mapping
from email.message import EmailMessage
from email.utils import formatdate
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from sidecar.doors.actions import Json
from sidecar.doors.channels import ReportedTask
from sidecar.doors.http import NotSent
from sidecar.doors.outbox import NewMessage, OutboxMessage
from sidecar.doors.settings import DoorsError

_SECONDS = 20.0
_SUBJECT = 150
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class MailServer(NamedTuple):
    host: str
    port: int
    #: From the first byte; otherwise as soon as the server offers it.
    tls: bool
    user: str
    password: str
    sender: str


def parse_server(url: str, recipients: str) -> MailServer:
    parts = urlsplit(url)
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname:
        raise DoorsError("BRAIN_SMTP_URL must look like smtps://user:password@mail.example.com")
    tls = parts.scheme == "smtps"
    sender = parse_qs(parts.query).get("from", [recipients.partition(",")[0].strip()])[0]
    port = parts.port or (465 if tls else 587)
    return MailServer(parts.hostname, port, tls, unquote(parts.username or ""), unquote(parts.password or ""), sender)


def open_mail(environ: Mapping[str, str]) -> "MailChannel":
    recipients = environ["BRAIN_MAIL_TO"]
    return MailChannel(parse_server(environ["BRAIN_SMTP_URL"], recipients), recipients)


class MailChannel:
    prefix = "mail"

    def __init__(self, server: MailServer, recipients: str) -> None:
        self._server = server
        self._recipients = [each.strip() for each in recipients.split(",") if each.strip()]

    def write(self, event: Json, task: ReportedTask) -> list[NewMessage]:
        return []  # the chain of the escalation decides

    async def send(self, outgoing: OutboxMessage) -> None:
        """The same message always has the same `Message-ID`, by which mail programs know a repetition."""
        try:
            await asyncio.to_thread(_send, self._server, compose(outgoing, self._server.sender, self._recipients))
        except smtplib.SMTPResponseException as error:
            said = error.smtp_error.decode("utf-8", "replace") if isinstance(error.smtp_error, bytes) else ""
            raise NotSent(
                f"the mail server answered {error.smtp_code} {said[:200]}", _again(error.smtp_code)
            ) from error
        except smtplib.SMTPRecipientsRefused as error:
            raise NotSent("the mail server refuses the recipients in BRAIN_MAIL_TO", None) from error
        except (OSError, smtplib.SMTPException, ValueError) as error:
            raise NotSent(f"the mail server can't be used: {error or type(error).__name__}", 5) from error


def compose(outgoing: OutboxMessage, sender: str, recipients: list[str]) -> EmailMessage:
    said = json.loads(outgoing.body)
    message = EmailMessage()
    message["Subject"] = " ".join(f"{said['title']}: {said['text']}".split())[:_SUBJECT]
    message["From"], message["To"], message["Date"] = sender, ", ".join(recipients), formatdate(localtime=True)
    message["Message-ID"] = f"<{hashlib.sha256(outgoing.key.encode()).hexdigest()[:32]}@rainy-brain.invalid>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(f"{said['text']}\n\nTask {said['taskId']}\n")
    return message


def _send(server: MailServer, message: EmailMessage) -> None:
    context = ssl.create_default_context()
    connection = (
        smtplib.SMTP_SSL(server.host, server.port, timeout=_SECONDS, context=context)
        if server.tls
        else smtplib.SMTP(server.host, server.port, timeout=_SECONDS)
    )
    with connection as smtp:
        smtp.ehlo()
        if not server.tls and smtp.has_extn("starttls"):
            smtp.starttls(context=context)
            smtp.ehlo()
        elif not server.tls and server.user and server.host not in _LOOPBACK:
            raise ValueError("it offers no encryption, so the password was not sent; use smtps://")
        if server.user:
            smtp.login(server.user, server.password)
        smtp.send_message(message)


def _again(code: int) -> float | None:
    return 60.0 if 400 <= code < 500 else None
