"""Answers what a client asks for: tools and their calls, and prompts."""

from __future__ import annotations

from typing import Any

import mcp_types as types
import msgspec
from mcp.shared.exceptions import MCPError

from untilgreen.errors import UntilgreenError, nearest, only
from untilgreen.surfaces.mcp.arguments import schema_of
from untilgreen.surfaces.mcp.question_forms import ask
from untilgreen.surfaces.mcp.resources import Resources
from untilgreen.surfaces.mcp.tasks import Tasks, knows_tasks
from untilgreen.surfaces.mcp.tools import Runs
from untilgreen.surfaces.mcp_answers import RunStatus

MOST_QUESTIONS = 10
"""How many questions one call of run_wait puts to a person."""
PROMPTS = {
    "until_green": ("goal", "Reach a goal with a run, and believe only its outcome."),
    "review_run": ("run", "Review what a run did."),
}


class Handlers:
    """One method for each request; resources and tasks have their own."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._tasks = Tasks(runs)
        self._resources = Resources(runs)
        self.list_resources = self._resources.list_all
        self.list_templates = self._resources.list_templates
        self.read_resource = self._resources.read
        self.get_task = self._tasks.get
        self.update_task = self._tasks.update
        self.cancel_task = self._tasks.cancel

    async def list_tools(self, context: Any, params: Any) -> types.ListToolsResult:
        """Every tool with the schemas of what it takes and returns."""
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=name,
                    description=(tool.takes.__doc__ or "").strip(),
                    input_schema=schema_of(tool.takes),
                    output_schema=schema_of(tool.gives),
                    annotations=types.ToolAnnotations(read_only_hint=tool.power == "look"),
                )
                for name, tool in self._runs.tools.items()
            ]
        )

    async def call_tool(self, context: Any, params: types.CallToolRequestParams) -> Any:
        """A user's mistake is an answer with a sentence, never an exception."""
        if params.name not in self._runs.tools:
            return _problem(f"There is no tool {params.name!r}. {nearest(params.name, self._runs.tools)}")
        try:
            answer = await self._called(context, params)
            if isinstance(answer, RunStatus) and params.name == "run_start" and knows_tasks(context):
                return await self._tasks.begun(answer.run)
        except msgspec.ValidationError as error:
            return _problem(f"{params.name}: {error}.")
        except (UntilgreenError, BaseExceptionGroup) as error:
            cause = only(error)
            if not isinstance(cause, UntilgreenError):
                raise
            return _problem(str(cause))
        if isinstance(answer, types.InputRequiredResult):
            return answer
        content = types.TextContent(type="text", text=msgspec.json.encode(answer).decode())
        return types.CallToolResult(content=[content], structured_content=msgspec.to_builtins(answer))

    async def _called(self, context: Any, params: types.CallToolRequestParams) -> Any:
        """What the tool returns; a question that comes up while it waits is put to the person."""

        async def tell(lap: int, text: str) -> None:
            await context.session.report_progress(float(lap), None, text)

        tool = self._runs.tools[params.name]
        given = msgspec.convert(params.arguments or {}, tool.takes)
        answer = await tool.does(self._runs, given, tell)
        for _ in range(MOST_QUESTIONS):
            if params.name != "run_wait" or not isinstance(answer, RunStatus) or not answer.question:
                break
            record = self._runs.find(answer.run)
            asked = self._runs.may("steer") and await ask(context, params, record, self._runs.store)
            if isinstance(asked, types.InputRequiredResult):
                return asked
            if not asked:
                break
            answer = await tool.does(self._runs, given, tell)
        return answer

    async def list_prompts(self, context: Any, params: Any) -> types.ListPromptsResult:
        """The prompts: two ways to begin."""
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=name,
                    description=about,
                    arguments=[types.PromptArgument(name=argument, required=True)],
                )
                for name, (argument, about) in PROMPTS.items()
            ]
        )

    async def get_prompt(self, context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """A prompt's text for the model."""
        if params.name not in PROMPTS:
            sentence = f"There is no prompt {params.name!r}. {nearest(params.name, PROMPTS)}"
            raise MCPError(types.INVALID_PARAMS, sentence)
        given = params.arguments or {}
        if params.name == "until_green":
            text = (
                f"Use run_start and then run_wait until it has ended to reach this: {given.get('goal', '')}\n"
                "Believe only the outcome of the run. If it is not converged, explain it with run_why."
            )
        else:
            text = (
                f"Review run {given.get('run', '@last')}: read run_status and run_why, "
                "then run_diff for each lap. "
                "Say whether the change is right, and whether any test was weakened."
            )
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(messages=[message])


def _problem(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)
