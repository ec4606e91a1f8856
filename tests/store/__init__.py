"""The evidence store on real files and with real processes."""
