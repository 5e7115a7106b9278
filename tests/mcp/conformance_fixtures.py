"""Fixtures that the public MCP conformance suite looks for by name: tools, resources and prompts beside our own."""

import asyncio
import base64
import json
import warnings
from typing import Annotated, Any

from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import Message, UserMessage
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import (
    AudioContent,
    Completion,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    UnsubscribeRequestParams,
)
from pydantic import BaseModel, Field

from mnemon.mcp.door import AgentDoor
from tests.mcp import conformance_protocol, conformance_questions

# One pixel, and a tenth of a millisecond of silence.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WAV = base64.b64encode(
    b"RIFF\x26\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00"
    b"data\x02\x00\x00\x00\x00\x00"
).decode()
# The suite asks for pauses between notifications, so that a client can tell them apart.
PAUSE = 0.05


class Person(BaseModel):
    username: str = Field(description="User's response")
    email: str = Field(description="User's email address")


class Defaults(BaseModel):
    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: Annotated[str, Field(json_schema_extra={"enum": ["active", "inactive", "pending"]})] = "active"
    verified: bool = True


def _titled(**titles: str) -> list[dict[str, str]]:
    return [{"const": value, "title": title} for value, title in titles.items()]


class Choices(BaseModel):
    untitledSingle: str = Field(json_schema_extra={"enum": ["option1", "option2", "option3"]})  # noqa: N815
    titledSingle: str = Field(json_schema_extra={"oneOf": _titled(value1="First", value2="Second")})  # type: ignore[dict-item]  # noqa: N815
    legacyEnum: str = Field(  # noqa: N815
        json_schema_extra={"enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]}
    )
    untitledMulti: list[str] = Field(  # noqa: N815
        json_schema_extra={"items": {"type": "string", "enum": ["option1", "option2"]}}
    )
    titledMulti: list[str] = Field(  # noqa: N815
        json_schema_extra={"items": {"anyOf": _titled(value1="First", value2="Second")}}  # type: ignore[dict-item]
    )


def add(door: AgentDoor) -> None:
    _add_contents(door)
    _add_notifications(door)
    _add_questions_of_old(door)
    _add_resources(door)
    _add_prompts(door)
    _add_methods(door)
    conformance_protocol.add(door)
    conformance_questions.add(door)


def _embedded(uri: str, text: str, mime_type: str = "text/plain") -> EmbeddedResource:
    return EmbeddedResource(resource=TextResourceContents(uri=uri, mime_type=mime_type, text=text))


def _add_contents(door: AgentDoor) -> None:
    tool = door.server.tool

    @tool()
    async def test_simple_text() -> TextContent:
        """Fixture: text."""
        return TextContent(text="This is a simple text response for testing.")

    @tool()
    async def test_image_content() -> ImageContent:
        """Fixture: an image."""
        return ImageContent(data=PNG, mime_type="image/png")

    @tool()
    async def test_audio_content() -> AudioContent:
        """Fixture: a sound."""
        return AudioContent(data=WAV, mime_type="audio/wav")

    @tool()
    async def test_embedded_resource() -> EmbeddedResource:
        """Fixture: a resource inside the result."""
        return _embedded("test://embedded-resource", "This is an embedded resource content.")

    @tool()
    async def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
        """Fixture: text, an image and a resource in one result."""
        return [
            TextContent(text="Multiple content types test:"),
            ImageContent(data=PNG, mime_type="image/png"),
            _embedded("test://mixed-content-resource", json.dumps({"test": "data", "value": 123}), "application/json"),
        ]

    @tool()
    async def test_error_handling() -> str:
        """Fixture: fails."""
        raise ToolError("This tool intentionally returns an error for testing")


def _add_notifications(door: AgentDoor) -> None:
    tool = door.server.tool

    @tool()
    async def test_tool_with_logging(context: Context[Any, Any]) -> str:
        """Fixture: three log messages."""
        for message in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", MCPDeprecationWarning)
                await context.log("info", message)
            await asyncio.sleep(PAUSE)
        return "Three messages were logged."

    @tool()
    async def test_tool_with_progress(context: Context[Any, Any]) -> str:
        """Fixture: three reports of progress."""
        for done in (0, 50, 100):
            await context.report_progress(done, 100, f"{done} of 100")
            await asyncio.sleep(PAUSE)
        return "Progress was reported."


def _add_questions_of_old(door: AgentDoor) -> None:
    """Requests from the server to the client, as revisions before 2026-07-28 have them."""
    tool = door.server.tool

    @tool()
    async def test_sampling(prompt: str, context: Context[Any, Any]) -> str:
        """Fixture: asks the client's model."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            # On the stream of this call: the client may not have opened one of its own yet.
            answer = await context.request_context.session.create_message(
                [SamplingMessage(role="user", content=TextContent(text=prompt))],
                max_tokens=100,
                related_request_id=context.request_id,
            )
        return f"LLM response: {getattr(answer.content, 'text', '')}"

    async def elicited(context: Context[Any, Any], message: str, schema: type[BaseModel]) -> str:
        answer = await context.elicit(message, schema)
        content = answer.data.model_dump_json() if answer.action == "accept" else "{}"
        return f"action={answer.action}, content={content}"

    @tool()
    async def test_elicitation(message: str, context: Context[Any, Any]) -> str:
        """Fixture: asks the person."""
        return "User response: " + await elicited(context, message, Person)

    @tool()
    async def test_elicitation_sep1034_defaults(context: Context[Any, Any]) -> str:
        """Fixture: a form with a default in every field."""
        return "Elicitation completed: " + await elicited(context, "Please check these values", Defaults)

    @tool()
    async def test_elicitation_sep1330_enums(context: Context[Any, Any]) -> str:
        """Fixture: a form with every kind of choice."""
        return "Elicitation completed: " + await elicited(context, "Please choose", Choices)


def _add_resources(door: AgentDoor) -> None:
    resource = door.server.resource

    @resource("test://static-text", mime_type="text/plain", description="Fixture: text.")
    async def static_text() -> str:
        return "This is the content of the static text resource."

    @resource("test://static-binary", mime_type="image/png", description="Fixture: bytes.")
    async def static_binary() -> bytes:
        return base64.b64decode(PNG)

    @resource("test://watched-resource", mime_type="text/plain", description="Fixture: can be subscribed to.")
    async def watched_resource() -> str:
        return "Watched resource content"

    @resource("test://template/{id}/data", mime_type="application/json", description="Fixture: a template.")
    async def template_data(id: str) -> str:  # noqa: A002
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def _add_prompts(door: AgentDoor) -> None:
    prompt = door.server.prompt

    @prompt()
    def test_simple_prompt() -> str:
        """Fixture: no arguments."""
        return "This is a simple prompt for testing."

    @prompt()
    def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        """Fixture: two arguments."""
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @prompt()
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[Message]:  # noqa: N803
        """Fixture: a resource inside the prompt."""
        content = _embedded(resourceUri, "Embedded resource content for testing.")
        return [UserMessage(content), UserMessage("Please process the embedded resource above.")]

    @prompt()
    def test_prompt_with_image() -> list[Message]:
        """Fixture: an image inside the prompt."""
        return [
            UserMessage(ImageContent(data=PNG, mime_type="image/png")),
            UserMessage("Please analyze the image above."),
        ]


def _add_methods(door: AgentDoor) -> None:
    """Methods that Mnemon itself has no use for."""
    server = door.server

    async def accept(context: ServerRequestContext[Any], parameters: Any) -> EmptyResult:
        return EmptyResult()

    handlers = {
        "logging/setLevel": SetLevelRequestParams,
        "resources/subscribe": SubscribeRequestParams,
        "resources/unsubscribe": UnsubscribeRequestParams,
    }
    for method, parameters in handlers.items():
        server._lowlevel_server.add_request_handler(method, parameters, accept)

    async def complete(reference: Any, argument: Any, context: Any) -> Completion:
        cities = ["paris", "park", "party"]
        values = [one for one in cities if one.startswith(argument.value)]
        return Completion(values=values, total=len(values), has_more=False)

    server.completion()(complete)  # type: ignore[no-untyped-call]
