"""Writing to a reader that has gone is not an error."""

import os

from untilgreen.surfaces.text.streams import write, write_bytes


def test_after_the_reader_has_left_everything_goes_nowhere() -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w", encoding="utf-8") as stream:
        write(stream, "first\n")
        write_bytes(stream, "zweite · \n".encode())
        assert os.read(reading, 100).decode() == "first\nzweite · \n"
        os.close(reading)

        write(stream, "nobody hears\n")
        write_bytes(stream, b"nor this\n")
        write(stream, "nor that\n")
