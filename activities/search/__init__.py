"""Search: backends behind one interface, and the `search` activity.

backend     the interface: what a search finds, and how it fails
corpus      collections on disk; collection (one of them, open), ranking (which chunks),
            choice (which passages), excerpt, meaning (the extra `semantic`)
teaching    the teaching notes' tool contract, for scripted and built-in notes
activities  the `search` activity; ledger_page lays passages out over a run's ledger
"""
