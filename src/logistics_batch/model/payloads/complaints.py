"""What is wrong with a payload, as codes of the catalogue and values."""

from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from logistics_batch import messages

_SHOWN = ("words", "kind", "least")  # what a model's own rule says of itself; never the value, which may be personal


@dataclass(frozen=True, slots=True)
class Complaint:
    """One finding of a model.

    rule: the stable error type. place: where, as field names and positions from 0, () for the payload as a whole.
    code, values: what is wrong and what is wanted; the value is not among them, for it may be personal.
    """

    rule: str
    place: tuple[str | int, ...]
    code: str
    values: dict[str, Any]

    @property
    def field(self) -> str:
        """The innermost field's name, "" for the payload as a whole."""
        names = [step for step in self.place if isinstance(step, str)]
        return names[-1] if names else ""


def complaints(error: ValidationError) -> list[Complaint]:
    """Every finding of a model, in its order."""
    found: list[Complaint] = []
    for each in error.errors(include_url=False, include_input=False):
        values = {name: value for name, value in each.get("ctx", {}).items() if name in _SHOWN}
        code = f"{each['type']}.contract" if each["loc"] else f"contract.{each['type']}"
        if code not in messages.CATALOGUE:
            code, values = "other.contract" if each["loc"] else "contract.other", {"said": each["msg"]}
        found.append(Complaint(each["type"], each["loc"], code, values))
    return found


def between_fields(rule: str) -> PydanticCustomError:
    """The error of a rule between fields."""
    return PydanticCustomError(rule, "{said}", {"said": messages.reason(f"contract.{rule}", {})})
