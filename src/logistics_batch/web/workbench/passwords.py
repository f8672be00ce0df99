"""Which passwords do not do: too short, or among those that everybody tries first. Nobody is asked about one."""

from itertools import pairwise
from string import digits, punctuation
from typing import Final

from logistics_batch.errors import UsageError

SHORTEST, MOST_CHARACTERS = 12, 200
_LEAST_DIFFERENT, _LEAST_OWN = 7, 8
_KEYS = ("1234567890-=", "qwertyuiop[]", "asdfghjkl;'", "zxcvbnm,./")
_PLACES = {sign: (row, column) for row, signs in enumerate(_KEYS) for column, sign in enumerate(signs)}
_TELLING: Final = (  # the longer ones first
    *("administrator", "logistics", "warehouse", "shipment", "password", "passwort", "iloveyou", "changeme", "welcome"),
    *("letmein", "courier", "parcel", "secret", "passwd", "qwerty", "orders", "labels", "batch", "admin", "login"),
)
_COMMON: Final = (  # of 12 signs and more in public lists, without digits around them
    "chickenwing christopher cookiemonster counterstrike devilmaycry fallen_angel finalfantasy greenlantern "
    "ichliebedich ihatethisgame ilovemyfamily ingodwetrust international internazionale iseedeadpeople jamesbond "
    "jesuslovesme justinbieber leavemealone manchesterunited massimiliano michaeljackson minecraft moderncombat "
    "mortalkombat needforspeed neworleans nightcrawler onedirection peanutbutter playstation professional "
    "przyjaciolki residentevil sanfrancisco seniseviyorum sonnenschein sonyericsson stratocaster starwars supernatural "
    "systemofadown telechargement thecakeisalie ticketmaster transformers vladimirovna warhammer websolutions "
    "weihnachtsbaum whosyourdaddy"
)
_REMEDY: Final = "A few words in a row that have nothing to do with each other are easy to keep."


def require_sound(password: str, again: str, *, name: str) -> None:
    """Raises UsageError where the person of this name must choose another password."""
    if password != again:
        raise UsageError("The two passwords differ.", remedy="Write the same one twice.")
    if not SHORTEST <= len(password) <= MOST_CHARACTERS:
        raise UsageError(f"A password has {SHORTEST} to {MOST_CHARACTERS} signs.", remedy=_REMEDY)
    if why := _weakness(password.casefold(), name.casefold()):
        raise UsageError(f"Such a password is tried first: {why}.", remedy=_REMEDY)


def _weakness(text: str, name: str) -> str:
    """Why a password is guessed soon, "" if nothing speaks against it.

    >>> _weakness("1q2w3e4r5t6y", "priya"), _weakness("logistics2026", "priya"), _weakness("four plain words", "priya")
    ('its signs lie side by side on the keyboard', 'little is left without the words “logistics”', '')
    """
    if len(set(text)) < _LEAST_DIFFERENT:
        return "it has few different signs"
    if _is_walk(text) or (_is_walk(text[::2]) and _is_walk(text[1::2])):
        return "its signs lie side by side on the keyboard"
    if text in (text + text)[1:-1]:
        return "it repeats itself"
    if text.strip(digits + punctuation) in _COMMON.split():
        return "it stands in lists of passwords"
    words = [word for word in (name, *name.split(), *_TELLING) if word in text]
    for word in words:
        text = text.replace(word, "")
    return f"little is left without the words “{', '.join(words)}”" if words and len(text) < _LEAST_OWN else ""


def _is_walk(text: str) -> bool:
    """Whether two thirds of the signs lie beside the one before, or are the same."""
    near = 0
    for one, other in pairwise(text):
        (row, column), (next_row, next_column) = _PLACES.get(one, (9, 0)), _PLACES.get(other, (0, 9))
        near += one == other or (abs(row - next_row) <= 1 and abs(column - next_column) <= 1)
    return near * 3 >= (len(text) - 1) * 2
