"""What is wrong with a payload, as a clerk can read it."""

from dataclasses import dataclass

from pydantic import ValidationError

_PLAIN_WORDS = {
    "missing": "The value is required.",
    "extra_forbidden": "The service knows no field of this name.",
    "too_short": "At least one entry is required.",
    "bool_type": "The value must be true or false.",
    "list_type": "The value must be a list.",
    "dict_type": "The value must be a table of entries by their id.",
    "model_type": "The value must be a group of named fields.",
}


@dataclass(frozen=True, slots=True)
class Complaint:
    """One finding of a model.

    rule: the stable error type. place: where, as field names and positions from 0, () for the payload as a whole.
    sentence: what is wrong and what is wanted; it never repeats the value, which may be personal.
    """

    rule: str
    place: tuple[str | int, ...]
    sentence: str

    @property
    def field(self) -> str:
        """The innermost field's name, "" for the payload as a whole."""
        names = [step for step in self.place if isinstance(step, str)]
        return names[-1] if names else ""


def complaints(error: ValidationError) -> list[Complaint]:
    """Every finding of a model, in its order."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return [Complaint(each["type"], each["loc"], _PLAIN_WORDS.get(each["type"], each["msg"])) for each in found]
