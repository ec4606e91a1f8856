"""Search backends and the search activity."""
