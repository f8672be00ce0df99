"""A mark of the API key tells it from others, and gives nothing away."""

from dataclasses import replace

from logistics_batch.api.client import ServiceAccess
from logistics_batch.api.key_print import is_print_of, key_print
from logistics_batch.api.secret import Secret

HERE = ServiceAccess(base_url="http://127.0.0.1:8100", api_key=Secret("1234"))


def test_a_key_is_known_again_at_its_address_only() -> None:
    mark = key_print(HERE)
    assert is_print_of(mark, HERE)
    others = [replace(HERE, api_key=Secret(key)) for key in ("1235", "12345")]
    others.append(replace(HERE, base_url="http://127.0.0.1:8101"))
    assert not any(is_print_of(mark, other) for other in others)


def test_who_has_the_mark_cannot_find_a_short_key_by_trying() -> None:
    """It is another one each time, and so short that of every 65,536 keys one fits besides."""
    mark = key_print(HERE)
    assert mark != key_print(HERE)
    assert len(bytes.fromhex(mark.partition(":")[2])) == 2
