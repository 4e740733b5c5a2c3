"""`python -m gyrostat` is the command `gyrostat`."""

from .cli.entry import run

if __name__ == "__main__":
    run()
