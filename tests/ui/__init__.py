"""What people do with a run outside of our own commands: the Temporal Web UI and the Temporal CLI.

`served` is a `starter.py serve` on a state directory of its own, `web_ui` drives a headless
Chromium, `guide` reads the commands of `docs/approvals.md`, `screenshots` makes its pictures.
"""
