"""The functional core: values in, values out; no clock, files, processes or randomness."""
