"""Pure rules: no Temporal, no I/O, no clock, no random. State in, decision out.

pages       index pages of the evidence store: numbers confirmed, entries appended
"""
