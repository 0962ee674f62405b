"""From a name in the spec to an object: built-ins, entry points, ./file.py:Name, module:Name.

kinds      The five kinds of plugin: the method that each must have, and those that ship with untilgreen.
registry   From a name in the spec to an object; lists and registers plugins, too.
locations  Where the code of a plugin is: `acme.rules:Patient` in a module, `./rules.py:Patient` in a file.
factory    Make a plugin from its options, checking their names and types, and the result's method.

Used by config, engine, backtest and surfaces. Imports only values of the core and the errors.
"""
