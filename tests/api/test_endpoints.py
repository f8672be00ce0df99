"""Where the service is: wrong addresses and paths are named before anything is sent."""

import pytest

from logistics_batch.api.client import Client, ServiceAccess
from logistics_batch.api.secret import Secret
from logistics_batch.errors import SettingsError, UsageError

KEY = Secret("a-test-key")


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.com",
        "https://api.example.com:8443/prefix/",
        "https://भारत.example.com",
        "http://127.0.0.1:8080",
        "http://127.9.9.9",
        "http://localhost:8080/x",
        "http://[::1]:8080",
    ],
)
def test_addresses_that_can_be_called(url: str) -> None:
    assert ServiceAccess(url, KEY).base_url == url


@pytest.mark.parametrize(
    "host", ["api.example.com", "10.0.0.7", "192.168.1.4:8080", "[fe80::1]", "localhost.example.com"]
)
def test_unencrypted_calls_stay_on_this_machine(host: str) -> None:
    with pytest.raises(SettingsError, match="not encrypted") as caught:
        ServiceAccess(f"http://{host}/api", KEY)
    assert "https://" in caught.value.remedy


@pytest.mark.parametrize(
    "url",
    [
        "",
        "api.example.com",
        "ftp://api.example.com",
        "https://",
        "https:///x",
        "https://api.example.com?x=1",
        "https://api.example.com/#x",
        "https://api example.com",
        "https://api.example.com\n",
        "https://api.example.com:port",
        "https://[::1",
        "https://" + "a" * 70 + ".com",
    ],
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(SettingsError) as caught:
        ServiceAccess(url, KEY)
    assert "service.base_url" in caught.value.message
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("name", "path", "words"),
    [
        ("order.creat", "/x", "Did you mean order.create?"),
        ("zzz", "/x", "Known are: asn.fetch"),
        ("order.create", "orders", "begins with one /"),
        ("order.create", "//evil.example/orders", "begins with one /"),
        ("order.create", "https://evil.example/orders", "begins with one /"),
        ("order.create", "/orders?x=1", "begins with one /"),
        ("order.create", "/orders#x", "begins with one /"),
        ("order.create", "/a/../b", "begins with one /"),
        ("order.create", "/a b", "begins with one /"),
        ("order.create", "/orders/{orderId}", "/orders/shipment."),
        ("order.fetch", "/orders", "/orders/shipment/{orderId}"),
        ("order.fetch", "/orders/{order}", "/orders/shipment/{orderId}"),
        ("order.fetch", "/{orderId}/{orderId}", "/orders/shipment/{orderId}"),
    ],
)
def test_paths_that_cannot_be_used(name: str, path: str, words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        ServiceAccess("https://api.example.com", KEY, paths={name: path})
    assert words in caught.value.remedy
    assert "service.paths" in caught.value.message


def test_a_base_url_in_api_is_warned_about() -> None:
    (warning,) = ServiceAccess("https://x.example/api/", KEY).warnings()
    assert "/api/api/orders/cancel/" in warning
    mended = {"order.cancel": "/orders/cancel/{orderId}"}
    assert ServiceAccess("https://x.example/api", KEY, paths=mended).warnings() == ()
    assert ServiceAccess("https://x.example/apis", KEY).warnings() == ()


@pytest.mark.parametrize(
    "proxy", ["proxy:3128", "https://proxy:3128", "socks5://proxy:1080", "http://proxy", "http://:1", "http://p:x"]
)
def test_what_is_no_proxy(proxy: str) -> None:
    with pytest.raises(SettingsError, match=r"service\.proxy"):
        ServiceAccess("https://api.example.com", KEY, proxy=proxy)


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_deadlines_are_longer_than_nothing(seconds: float) -> None:
    with pytest.raises(SettingsError):
        ServiceAccess("https://api.example.com", KEY, deadline_seconds=seconds)
    with pytest.raises(SettingsError):
        ServiceAccess("https://api.example.com", KEY, create_deadline_seconds=seconds)


def test_an_unknown_call_names_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        Client.method("order.canel")
    assert caught.value.remedy == "Did you mean order.cancel?"
