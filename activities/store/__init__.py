"""The evidence store: content-addressed objects per run.

base        the interface, its errors
files       objects as files (atomic, hash checked on read, many processes)
guard       the check of a run's store, lost evidence as an error that is not retried
records     tasks, index pages and results as objects
"""
