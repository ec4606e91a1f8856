"""Everything that touches the world, in classes that are handed their clients.

store       the evidence store and what lies in it
search      search backends and the `search` activity
ingest      reading files into collections, the `index` activity
model       the model gateway, the `decide` and `answer` activities
"""
