"""Proofs that a peer knows a key, without showing it. Light to import: every command needs it.

Each proof is bound to the address of the sidecar, so that a program on another port can't pass it on.
"""

import base64
import hashlib
import hmac
import secrets

TOKEN_ID = "token"  # noqa: S105 - the id under which the token itself is proven


def new_nonce() -> str:
    return secrets.token_urlsafe(32)


def server_proof(key: str, authority: str, key_id: str, asked: str, answered: str) -> str:
    return _proof(key, "sidecar", authority, key_id, asked, answered)


def panel_proof(key: str, authority: str, key_id: str, asked: str, answered: str) -> str:
    return _proof(key, "panel", authority, key_id, asked, answered)


def same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))


def _proof(key: str, *parts: str) -> str:
    message = "\n".join(("rainy-brain session 1", *parts)).encode("utf-8", "replace")
    digest = hmac.new(key.encode("utf-8", "replace"), message, hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
