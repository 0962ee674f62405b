"""Where events are kept: in a file of lines that people can read, or in memory."""
