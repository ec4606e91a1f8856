"""Pure rules: no Temporal, no I/O, no clock, no random. State in, decision out.

input       parse (whatever came in to a Task), available (what this version refuses), resolve
            (defaults)
loop        react (what comes before and after a decision), ledger (what a search does to the
            state), clock (active time), outcome (status, failures), inbox (messages)
evidence    pages (index pages of the store), topics (declared and covered topics)
text        tokens, terms and stop_words (queries, names, languages), cover (IDF cover rule), fold,
            sentences and quotes (verbatim passages, found and picked)
report      report, report_sources, report_end, headings and headings_zh, safe_markdown, result
"""
