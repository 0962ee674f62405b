"""The command line's front door: quick answers first, everything else from `untilgreen.surfaces.cli`."""

import sys


def main() -> None:
    """What the `untilgreen` command runs."""
    if sys.argv[1:] == ["--version"]:
        from untilgreen import __version__

        sys.stdout.write(f"untilgreen {__version__}\n")
        return
    import gc

    from untilgreen.surfaces.cli.main import call

    code = call(sys.argv[1:])
    gc.freeze()  # all goes now: looking for garbage in it would take a tenth of a short command's time
    sys.exit(code)


if __name__ == "__main__":
    main()
