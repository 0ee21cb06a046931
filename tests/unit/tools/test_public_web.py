"""S30: which addresses are never dialled, however they are written."""

import ipaddress

import pytest

from tools.builtin.fetch_url import FetchUrlArguments, render_page
from tools.errors import ToolError
from tools.policy.policy import Policy
from tools.public_web import WebPage, is_public, literal_address, parse_url, private_name


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.3.4", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1",
        "224.0.0.1", "255.255.255.255", "192.0.2.1", "::1", "::", "fe80::1", "fc00::1", "ff02::1", "::ffff:127.0.0.1",
        "::ffff:10.0.0.1", "2002:7f00:1::", "64:ff9b::7f00:1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "fec0::1",
    ],
)  # fmt: skip
def test_s30_an_address_that_is_not_public_is_refused(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["93.184.216.34", "1.1.1.1", "2606:4700:4700::1111", "64:ff9b::101:101"])
def test_a_public_address_is_not(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("host", ["127.1", "0x7f.1", "2130706433", "0177.0.0.1", "[::1]".strip("[]"), "::ffff:7f00:1"])
def test_s30_other_spellings_of_this_machine_are_known(host: str) -> None:
    address = literal_address(host)
    assert address is not None
    assert not is_public(address)
    assert private_name(host)


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST.", "a.localhost", "printer", "x.local", "metadata.google.internal"]
)
def test_s30_private_names_are_refused_before_they_are_looked_up(host: str) -> None:
    assert private_name(host)
    assert not private_name("example.com")


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.com",
        "https://",
        "http://user:secret@example.com",
        "http://a b.com",
        "gopher://x",
    ],
)
def test_s30_only_plain_web_urls_are_fetched(url: str) -> None:
    with pytest.raises(ToolError):
        parse_url(url)


def test_it_asks_and_a_private_address_is_denied_whatever_you_allow() -> None:
    from tools.builtin.fetch_url import FetchUrl

    policy, spec = Policy(), FetchUrl.spec
    for approvals in ("ask", "auto", "edits", "readonly"):
        public = policy.decide(spec, FetchUrlArguments(url="https://example.com/a"), "/w", approvals)  # type: ignore[arg-type]
        assert public.verdict == "ask"
        assert "example.com" in public.why
        private = policy.decide(spec, FetchUrlArguments(url="http://127.0.0.1:8080/"), "/w", approvals)  # type: ignore[arg-type]
        assert private.verdict == "deny"


def test_a_page_is_its_visible_text() -> None:
    html = b"<html><head><title>t</title></head><body><h1>Title</h1><script>evil()</script><p>One &amp; two</p></body>"
    page = WebPage("https://e.com", 200, "text/html; charset=utf-8", html, cut=False)
    assert render_page(page).split("\n") == ["Title", "", "One & two"]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p class='a>b' title=it's>R&D a<br/>b &#65;&#x42; 3 < 4</p>", "R&D a\nb AB 3 < 4"),
        ("a<!-- hi > there -->b<!-->c<!DOCTYPE x>d<?xml x?>e", "abcde"),
        ("a<SCRIPT>if (a<b) '</p>'; x</Script >b<style>p{}</style>c", "abc"),
        ("a<svg/>b<svg><text>no</text></svg>c<template><p>no</p></template>d", "abc\n\nd"),
        ("a &#99999999999999; b", "a \ufffd b"),
        ("the end <b", "the end"),
    ],
)
def test_what_a_browser_would_not_show_is_left_out(html: str, text: str) -> None:
    assert render_page(WebPage("https://e.com", 200, "text/html", html.encode(), cut=False)) == text
