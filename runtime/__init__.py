"""What worker.py and starter.py share.

settings    environment variables, validated in one place
converter   the payload converter: pydantic, with a marker for what cannot be decoded
codec       payload encryption (AES-GCM, key ids), off unless SUREFOOT_CODEC_KEYS is set
connect     a Temporal client from profiles, TEMPORAL_* variables or the embedded server
embedded    the embedded Temporal server of a state directory
workers     workers of each role, with everything they need injected
logs        structlog and standard logging through one formatter
"""
