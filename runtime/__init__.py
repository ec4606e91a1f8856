"""What worker.py and starter.py share.

errors          errors that people see as one line
settings        environment variables, validated in one place
roots           folders that may be indexed
converter       the payload converter: pydantic, with a marker for what cannot be decoded
codec           payload encryption (AES-GCM, key ids), off unless SUREFOOT_CODEC_KEYS is set
connect         a Temporal client from profiles, TEMPORAL_* variables or for an address
embedded        the embedded Temporal server of a state directory: join, watch, leave
server_process  its process: record, ports, starting, recognising, stopping
readiness       whether it answers; its retention
binary          which `temporal` binary runs it
locks           file locks that sessions share
workers         workers of each role, with everything they need injected
logs            structlog and standard logging through one formatter
"""
