"""Search: backends behind one interface, and the `search` activity.

backend     the interface: what a search finds, and how it fails
"""
