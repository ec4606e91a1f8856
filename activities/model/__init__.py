"""The model gateway, and the `decide` and `answer` activities.

profiles       model profiles of this worker and the roles that use them
request        what is asked of a model, and what came back
schema         strict JSON schema from the pydantic model that validates the reply
tokens         tokens: from the reply's usage, else estimated and marked so
reply          reading the body of a 200: the first choice, or why it cannot be used
refusal        what a server said when it refused, and what a person must repair
errors         one function: any failure of a model call to an ApplicationError
openai_client  one Chat Completions call
gateway        one validated call, whatever the profile
prompts        system and user message, built anew for each call
evidence_view  the evidence as a model sees it, bounded in size
extractive     the built-in model that needs neither key nor network
activities     `decide` and `answer`
"""
