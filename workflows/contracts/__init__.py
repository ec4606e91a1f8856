"""What crosses a boundary, as frozen pydantic models.

base        the two kinds of model (strict for people, tolerant between workers) and shared types
names       workflow types, task queues, activities, messages, search attributes, error types
task        Task: the input of AgentRun, and what prepare makes of it (ResolvedTask)
plan        Plan and Step
decision    what a model proposes: NextAction, Answer
evidence    ledger entries, hits as they stand in history, index pages of the store
observation what a tool call brought, as the model sees it
step_decision what a model proposes within a plan: StepAction, WrittenResult, a judge's words
step_record records of steps and findings, as they lie in the store
plan_state  the part of RunState that a plan needs
plan_acts   inputs and results of the activities of a plan
claim       claims, quotes and their verdicts
verdict     the verdict on a step
messages    signals and updates
result      the result of AgentRun
state       RunState: everything mutable of a run
acts        inputs and results of activities
corpus      IndexCorpus: input, result, file statuses
"""
