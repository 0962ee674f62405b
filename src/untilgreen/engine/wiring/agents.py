"""Checks that the agents of a plan can be used, before anything starts."""

from __future__ import annotations

from untilgreen.agents.kit.readiness import ChecksItself, Conditions
from untilgreen.core.values.model import NO_SANDBOX, Plan
from untilgreen.engine.wiring.objects import Objects, agents_of
from untilgreen.engine.wiring.workplace import in_worktree, start_of


async def check_agents(plan: Plan, objects: Objects) -> None:
    """Raise AgentUnavailable if any can't be used, even a fallback: overnight nobody could fix it."""
    conditions = Conditions(
        permissions=plan.permissions,
        root=None if in_worktree(plan) else start_of(plan),
        sandboxed=plan.sandbox.mode != NO_SANDBOX,
    )
    for agent in agents_of(plan, objects).values():
        if isinstance(agent, ChecksItself):
            await agent.ready(conditions)
