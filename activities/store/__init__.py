"""The evidence store: content-addressed objects per run.

base        the interface, its errors
files       objects as files (atomic, hash checked on read, many processes)
records     tasks, index pages and results as objects
"""
