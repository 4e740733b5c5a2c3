"""The command line: parse, call the public API, print. No physics."""
