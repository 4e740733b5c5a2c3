"""`python -m gyrostat` is the command `gyrostat`."""

from .cli.main import run

if __name__ == "__main__":
    run()
