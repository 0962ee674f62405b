"""What detectors and strategies would have done with runs that are over: a replay, without any agent."""
