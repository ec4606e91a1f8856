"""`demo`: the built-in teaching notes, no key, no network (REQUIREMENTS 230).

Always on the embedded server and with the extractive model, whatever is configured.
"""

from pathlib import Path
from typing import Final

from cli.corpora import Corpus, name_for, roots_by_name
from cli.options import DemoOptions
from cli.runs import Job, perform
from cli.task import new_id
from runtime.settings import load_env
from workflows.logic.parse import parse_task

NOTES: Final = Path(__file__).parent / "demo_notes"
GOAL: Final = "Explain how an agent loop and a tool contract work together"
TOPICS: Final = ("agent_loop", "tool_contract")
UNCOVERED: Final = "recovery"
_NAME: Final = "demo"
_MODEL: Final = "extractive"


async def demo_command(options: DemoOptions) -> int:
    """Index the notes and research them."""
    topics = [*TOPICS, *([UNCOVERED] if options.include_recovery else [])]
    wanted = {
        "goal": GOAL if options.goal is None else options.goal,
        "required_topics": topics,
        "strategy": "react",
        "models": dict.fromkeys(("planner", "executor", "judge"), _MODEL),
    }
    parse_task([wanted])  # a bad goal is told before anything is touched (C58)
    env = load_env().model_copy(
        update={
            "openai_api_key": None,
            "openai_base_url": None,
            "openai_model": None,
            "openai_model_planner": None,
            "openai_model_executor": None,
            "openai_model_judge": None,
        }
    )
    corpus = Corpus(name_for(NOTES, roots_by_name(env), wanted=_NAME), NOTES)
    task = parse_task([{**wanted, "corpora": [corpus.name]}])
    return await perform(env, Job(task, [corpus], new_id(_NAME)), options, embedded=True)
