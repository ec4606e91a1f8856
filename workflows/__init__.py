"""Deterministic control flow: contracts, pure rules, and the workflow classes that perform them."""
