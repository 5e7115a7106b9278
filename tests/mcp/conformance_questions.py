"""Fixtures of the conformance suite in which a result asks the client for input, and the repeated call brings it."""

from typing import Any

from mcp.server.mcpserver import Context
from mcp_types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    SamplingMessage,
    TextContent,
)

from mnemon.mcp.door import AgentDoor

Asked = InputRequiredResult


def add(door: AgentDoor) -> None:
    _add_single(door)
    _add_several(door)
    _add_states(door)
    _add_prompt(door)


def form(message: str, **fields: str) -> ElicitRequest:
    schema = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in fields.items()},
        "required": list(fields),
    }
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def _sample(text: str, tokens: int) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=TextContent(text=text))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=tokens))


def _answer(context: Context[Any, Any], name: str) -> Any:
    return (context.input_responses or {}).get(name)


def _filled(context: Context[Any, Any], name: str, field: str) -> str | None:
    """What the person put into a field of a form; None while there is no usable answer."""
    given = _answer(context, name)
    value = (given.content or {}).get(field) if isinstance(given, ElicitResult) and given.action == "accept" else None
    return None if value is None else str(value)


def _add_single(door: AgentDoor) -> None:
    tool = door.server.tool

    @tool()
    async def test_input_required_result_elicitation(context: Context[Any, Any]) -> TextContent | Asked:
        """Fixture: asks the person for a name."""
        name = _filled(context, "user_name", "name")
        if name is None:
            return Asked(input_requests={"user_name": form("What is your name?", name="string")})
        return TextContent(text=f"Hello, {name}!")

    @tool()
    async def test_input_required_result_sampling(context: Context[Any, Any]) -> TextContent | Asked:
        """Fixture: asks the client's model."""
        given = _answer(context, "capital_question")
        if not isinstance(given, CreateMessageResult):
            return Asked(input_requests={"capital_question": _sample("What is the capital of France?", 100)})
        return TextContent(text=getattr(given.content, "text", ""))

    @tool()
    async def test_input_required_result_list_roots(context: Context[Any, Any]) -> TextContent | Asked:
        """Fixture: asks for the client's folders."""
        given = _answer(context, "client_roots")
        if not isinstance(given, ListRootsResult):
            return Asked(input_requests={"client_roots": ListRootsRequest()})
        return TextContent(text=", ".join(str(root.uri) for root in given.roots) or "no roots")


def _add_several(door: AgentDoor) -> None:
    tool = door.server.tool

    @tool()
    async def test_input_required_result_multiple_inputs(context: Context[Any, Any]) -> TextContent | Asked:
        """Fixture: three questions at once."""
        questions: dict[str, InputRequest] = {
            "user_name": form("What is your name?", name="string"),
            "greeting": _sample("Generate a greeting", 50),
            "client_roots": ListRootsRequest(),
        }
        if context.request_state != "asked" or not questions.keys() <= (context.input_responses or {}).keys():
            return Asked(input_requests=questions, request_state="asked")
        return TextContent(text=f"All answers are in for {_filled(context, 'user_name', 'name')}.")

    @tool()
    async def test_input_required_result_multi_round(context: Context[Any, Any]) -> TextContent | Asked:
        """Fixture: one question after the other."""
        state = context.request_state or ""
        name, color = _filled(context, "step1", "name"), _filled(context, "step2", "color")
        if state.startswith("named:") and color is not None:
            return TextContent(text=f"{state.removeprefix('named:')} likes {color}.")
        if state == "begun" and name is not None:
            question = form("Step 2: What is your favorite color?", color="string")
            return Asked(input_requests={"step2": question}, request_state=f"named:{name}")
        return Asked(input_requests={"step1": form("Step 1: What is your name?", name="string")}, request_state="begun")

    @tool()
    async def test_input_required_result_capabilities(context: Context[Any, Any]) -> TextContent | Asked:
        """Fixture: asks only for what the client says it can do."""
        able = context.client_capabilities
        questions: dict[str, InputRequest] = {}
        if able and able.elicitation is not None:
            questions["user_name"] = form("What is your name?", name="string")
        if able and able.sampling is not None:
            questions["greeting"] = _sample("Generate a greeting", 50)
        if able and able.roots is not None:
            questions["client_roots"] = ListRootsRequest()
        if context.input_responses or not questions:
            return TextContent(text="Nothing is left to ask.")
        return Asked(input_requests=questions)


def _add_states(door: AgentDoor) -> None:
    """The SDK seals the state that it hands out, and refuses one that it did not."""
    tool = door.server.tool

    async def confirmed(context: Context[Any, Any]) -> TextContent | Asked:
        if context.request_state == "kept" and _answer(context, "confirm") is not None:
            return TextContent(text="state-ok")
        return Asked(input_requests={"confirm": form("Please confirm", ok="boolean")}, request_state="kept")

    @tool()
    async def test_input_required_result_request_state(context: Context[Any, Any]) -> TextContent | Asked:
        """Fixture: a state that comes back."""
        return await confirmed(context)

    @tool()
    async def test_input_required_result_tampered_state(context: Context[Any, Any]) -> TextContent | Asked:
        """Fixture: a state that must not be forged."""
        return await confirmed(context)


def _add_prompt(door: AgentDoor) -> None:
    @door.server.prompt()
    async def test_input_required_result_prompt(context: Context[Any, Any]) -> str | Asked:
        """Fixture: a prompt that asks first."""
        given = _filled(context, "user_context", "context")
        if given is None:
            question = form("What context should the prompt use?", context="string")
            return Asked(input_requests={"user_context": question})
        return f"Use this context: {given}"
