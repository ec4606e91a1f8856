"""Everything that touches the world, in classes that are handed their clients.

prepare     the first activity of a run: everything resolved once
search      search backends and the `search` activity
model       the model gateway, the `decide` and `answer` activities
close       the last activity: compose and keep report and result
ingest      reading files into collections, the `index` activity
store       the evidence store and what lies in it
heartbeat   heartbeats beside a call
"""
