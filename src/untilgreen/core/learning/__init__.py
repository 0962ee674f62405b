"""What your own runs say about the next lap of a new one; pure, and without a statistics library.

features       What the laps of a run say about the next one, in four numbers.
estimate       The chance that the next lap is green: a shared prior, and two numbers of your own.
course         A finished run in numbers: what its laps looked like, and which of them led to green.
fitting        Fits your own two numbers to your laps, by a damped Newton's method.
track_record   Whether the estimate may decide: your runs replayed with it and with hybrid.
calibration    Whether predictions came true: laps by their predicted chance.

Used by: the strategy `adaptive`, and what reads your own runs. Uses: only scoring and values.
"""
