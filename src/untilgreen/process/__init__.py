"""One child process and everything it starts: watched, kept on record, and ended without a trace."""
