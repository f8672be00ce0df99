"""The API description as a page for people: the same document, without a script or anything from elsewhere."""

import json
from typing import Any

from logistics_batch.sandbox.openapi import Document
from logistics_batch.sandbox.openapi_schemas import Schema
from logistics_batch.sandbox.pages_access import API_PAGE, OPENAPI
from logistics_batch.sandbox.pages_html import Html, Node, card, link, table, tag
from logistics_batch.sandbox.pages_layout import page

_KEYS = {"headerKey": "header API_KEY", "queryKey": "query parameter API_KEY"}
_NESTED = ("Item", "Kit", "SkuLine", "LabelSku", "LabelDimensions", "OrderDetails", "AsnRecord")


def api_page(document: Document) -> bytes:
    """Every operation with its parameters, body and answers."""
    operations: list[tuple[str, str, dict[str, Any]]] = [
        (path, method, operation) for path, item in document["paths"].items() for method, operation in item.items()
    ]
    parts: list[Node] = []
    for section in document["tags"]:
        parts.append(tag("h2", section["name"], tag("small", section["description"]), class_="part"))
        parts += [_operation(document, *one) for one in operations if section["name"] in one[2]["tags"]]
    event = document["webhooks"]["updateOrderStatus"]["post"]
    parts.append(card(_title("event", "updateOrderStatus", event), *_event(document, event), class_="operation"))
    parts.append(tag("h2", "Objects", tag("small", "Inside of bodies and answers."), class_="part"))
    schemas = document["components"]["schemas"]
    parts += [tag("section", tag("h2", name), _properties(schemas[name]), class_="card", id=name) for name in _NESTED]
    lead = tag("p", document["info"]["description"], " Also as ", link(OPENAPI, "OpenAPI 3.1"), ".", class_="note")
    return page("API", lead, *parts, current=API_PAGE)


def _operation(document: Document, path: str, method: str, operation: dict[str, Any]) -> Html:
    security = operation["security"] if "security" in operation else document["security"]
    key = ", ".join(_KEYS[name] for one in security for name in one) or "no key"
    content: list[Node] = [tag("p", operation["description"], " · ", tag("code", key), class_="note")]
    if "parameters" in operation:
        content.append(tag("h3", "Parameters"))
        content.append(_parameters(operation["parameters"]))
    if "requestBody" in operation:
        media = operation["requestBody"]["content"]["application/json"]
        content.append(tag("h3", "Body"))
        content += [_properties(schema) for schema in _alternatives(document, media["schema"])]
        content.append(_json("example", media["example"]))
    content.append(tag("h3", "Answers"))
    content.append(_answers(document, operation["responses"]))
    return card(_title(method, path, operation), *content, class_="operation")


def _title(method: str, path: str, operation: dict[str, Any]) -> Html:
    words = (tag("code", path), tag("small", operation["summary"]))
    return tag("span", tag("span", method.upper(), class_=f"method {method}"), *words, class_="title")


def _event(document: Document, event: dict[str, Any]) -> list[Node]:
    schema = _resolved(document, event["requestBody"]["content"]["application/json"]["schema"])
    return [tag("p", event["description"], class_="note"), _properties(schema)]


def _parameters(parameters: list[dict[str, Any]]) -> Html:
    rows = (
        (tag("code", one["name"]), one["in"], _mark(one["required"]), _type(one["schema"]), one["description"])
        for one in parameters
    )
    return table(("Name", "In", "", "Type", "Meaning"), rows, empty="")


def _properties(schema: Schema) -> Html:
    wanted = schema.get("required", [])
    rows = ((tag("code", name), _mark(name in wanted), _type(inner)) for name, inner in schema["properties"].items())
    return tag(
        "details", tag("summary", f"{len(schema['properties'])} fields"), table(("Field", "", "Type"), rows, empty="")
    )


def _answers(document: Document, responses: dict[str, Any]) -> Html:
    rows = []
    for status, response in responses.items():
        (media, content), *_ = response["content"].items()
        name = content["schema"].get("$ref", "").rpartition("/")[2]
        shown = _json(name, document["components"]["schemas"][name]) if name else tag("code", media)
        rows.append((tag("b", status), response["description"], shown))
    return table(("Status", "When", "Body"), rows, empty="")


def _alternatives(document: Document, schema: Schema) -> list[Schema]:
    found = _resolved(document, schema)
    return [_resolved(document, one) for one in found["oneOf"]] if "oneOf" in found else [found]


def _resolved(document: Document, schema: Schema) -> Schema:
    name = schema.get("$ref", "").rpartition("/")[2]
    found: Schema = document["components"]["schemas"][name] if name else schema
    return found


def _mark(required: bool) -> Html | None:
    return tag("span", "required", class_="badge failed") if required else None


def _type(schema: Schema) -> Node:
    """A schema in few words: its type, its values or its form."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return link(f"#{name}", name)
    if "anyOf" in schema:
        return tag("span", [part for one in schema["anyOf"] for part in (" or ", _type(one))][1:])
    if "enum" in schema:
        return tag("span", "one of ", tag("code", ", ".join(filter(None, schema["enum"]))))
    if schema.get("type") == "array":
        return tag("span", "array of ", _type(schema.get("items", {})))
    if isinstance(schema.get("additionalProperties"), dict):
        return tag("span", "object of ", _type(schema["additionalProperties"]))
    return _simple(schema)


def _simple(schema: Schema) -> Node:
    if "const" in schema:
        return tag("code", str(schema["const"]) or "(blank)")
    kind = schema.get("type", "any")
    words = " or ".join(kind) if isinstance(kind, list) else str(kind)
    form = schema.get("format") or schema.get("pattern")
    return tag("span", words, " ", tag("code", form)) if form else words


def _json(summary: str, content: object) -> Html:
    return tag("details", tag("summary", summary), tag("pre", json.dumps(content, ensure_ascii=False, indent=2)))
