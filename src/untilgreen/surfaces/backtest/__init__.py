"""The tables and pictures of a backtest.

detector_tables  What the detectors would have stopped, saved and missed, as tables.
strategy_tables  Your own runs with other strategies: a table, the runs that differ, saved against lost.

Used by: the `backtest` verb. Uses: the values of `untilgreen.backtest`, and text for terminals.
"""
