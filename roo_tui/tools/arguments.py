"""Tool arguments: their declaration, their JSON schema for the model, and tolerant validation."""

import json
from collections.abc import Mapping
from typing import Any, TypeVar, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError

from roo_tui.prompt_files import render
from roo_tui.tools.base import Tool

Model = TypeVar("Model", bound=BaseModel)


class ToolArguments(BaseModel):
    """The base of every tool's `Arguments`. Unknown names are refused; numbers and text are converted if needed."""

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)


def schema(tool: Tool) -> dict[str, Any]:
    """Return the JSON schema of a tool's input object, with the argument descriptions of the tool's prompt file.

    It has no titles and no references, and `additionalProperties` is false.
    """
    raw = tool.Arguments.model_json_schema()
    definitions = raw.pop("$defs", {})
    cleaned: dict[str, Any] = _clean(raw, definitions)
    cleaned.pop("description", None)
    for argument, shape in cleaned["properties"].items():
        shape["description"] = render(f"tools/{tool.name}/argument_{argument}")
    return cleaned | {"additionalProperties": False}


def validate(arguments: type[Model], given: Mapping[str, object]) -> Model:
    """Return the arguments of a call. An optional argument may be `null`, and a list may come as JSON text.

    Raises:
        pydantic.ValidationError: see `problems`.
    """
    values: dict[str, object] = {}
    for name, value in given.items():
        field = arguments.model_fields.get(name)
        if field is not None and value is None and not field.is_required():
            continue
        if field is not None and isinstance(value, str) and get_origin(field.annotation) in (list, tuple):
            value = _list_in(value)
        values[name] = value
    return arguments.model_validate(values)


def problems(error: ValidationError) -> str:
    """Return the problems, one line per argument."""
    return "\n".join(
        f"- {'.'.join(str(part) for part in problem['loc']) or 'input'}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_context=False, include_input=False)
    )


def described(tool: Tool) -> str:
    """Return the arguments that a tool takes, one line each."""
    shape = schema(tool)
    required = shape.get("required", [])
    return "\n".join(
        f"- {name} ({value.get('type', 'any')}, {'required' if name in required else 'optional'}):"
        f" {value['description']}"
        for name, value in shape["properties"].items()
    )


def _list_in(value: str) -> object:
    try:
        parsed = json.loads(value)
    except ValueError:
        return value
    return parsed if isinstance(parsed, list) else value


def _clean(node: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [_clean(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = definitions[node["$ref"].rsplit("/", 1)[-1]]
        return _clean({**target, **{key: value for key, value in node.items() if key != "$ref"}}, definitions)
    if "anyOf" in node:
        # An optional argument can be left out, so the schema need not offer `null`.
        kinds = [kind for kind in node["anyOf"] if kind != {"type": "null"}]
        if len(kinds) == 1:
            rest = {key: value for key, value in node.items() if key not in ("anyOf", "default")}
            return _clean({**kinds[0], **rest}, definitions)
    cleaned = {}
    for key, value in node.items():
        if key == "properties":
            cleaned[key] = {name: _clean(item, definitions) for name, item in value.items()}
        elif key != "title":
            cleaned[key] = _clean(value, definitions)
    return cleaned
