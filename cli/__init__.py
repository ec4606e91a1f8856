"""The command line behind starter.py, one module a group of commands."""
