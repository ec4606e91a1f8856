"""See the map in activities/__init__."""
