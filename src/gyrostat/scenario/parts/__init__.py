"""The tables that scenario files of every kind are made of, each with what is made of it. docs/scenarios.md
describes them key by key.
"""
