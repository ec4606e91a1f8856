"""Tools besides the search, and reading further in what a search found.

registry    what a worker offers: a tool's specification and its function
activities  `tool`: one call, its result kept as evidence
reading     `read` and `look`: more of a source; what the collections hold
"""
