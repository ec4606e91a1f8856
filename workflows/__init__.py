"""Deterministic control flow: contracts, pure rules, and the workflow classes that perform them.

`agent_run` is the job; `engine` performs acts, through `ports` alone. Strategies `react` and
`direct` are `step_loop`; `plan` is `plan_schedule` (what runs when), `planning`, `step_round` (one
round and what its verdict leads to), `step_run` (decide, write) with `step_acts`, `step_search` and
`step_tools`, `verify_run` (judge calls) and `findings_run` (topics); `side_by_side` ends together
what runs together. People: `messages`, `people`, `plan_approval`, `tool_calls`, `release`. Money:
`charge`; budgets: `model_acts`.
"""
