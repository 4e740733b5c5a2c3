"""Wilde's own equations that no other part of the library needs."""
