"""Reading files and building collections."""
