"""The command line: parses, calls the engine, prints; a verb's module is loaded when the verb is used."""
