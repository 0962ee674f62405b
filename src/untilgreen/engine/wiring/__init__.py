"""From a spec to a plan, and from a plan to the objects that a run is driven with.

workplace      Where a run works and what it started from: the plan's workspace table, as a value.
plan           From a spec to a plan: every name is resolved, so that a wrong one is reported at once.
objects        From a plan to the objects that a runner works with: each plugin object is made once.
start_notes    Notes for a person before a run starts, about what can still be changed.
agents         Checks that the agents of a plan can be used, before anything starts.
plugin_copies  The run's own copies of plugin files and level files, out of the agent's reach.
redaction      Cuts secrets out of what a run stores, and puts them back where they are used.
sandbox        What agents and gates may touch of the workspace, the repository and the state.
learned        The numbers that `adaptive` decides by, put into the plan when a run begins.
clock          Real time.

Used by: every other package of the engine. Uses: config, plugins, gates, workspace and process, and no other
package of the engine.
"""
