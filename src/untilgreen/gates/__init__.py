"""Gates: the checks that decide whether the work is done, whatever the agent says."""
