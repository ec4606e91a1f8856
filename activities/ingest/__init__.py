"""Collections: reading files, cutting them into chunks, the SQLite index, the `index` activity.

document    what a reader makes of a file, and why a file can not be read
formats     what a file really is, by its first bytes
encodings   bytes to text, with charsets (declared ones), chinese (is it Chinese?), wide_text
            (UTF-16, UTF-32) and mixed_text (line by line)
sniff       HTML or not, declared encodings, the work of a tool; terminal (colours, spinners)
readers     one file to one document: the right reader, title, date, language
front_matter  the head of a Markdown file
markdown    Markdown and plain text: headings, links; comments (what is not shown)
html        HTML: headings, tables, code; visibility and styles (what is seen), html_tags
            (what a tag means), html_marks and html_writer (the text)
pdf         PDF: pages; pdf_lines (paragraphs), pdf_outline, pdf_notes (forms, annotations),
            pdf_hidden and pdf_drawn (what is not seen)
word        Word documents; word_text (their body), word_styles, word_fills, zips (archives within
            bounds)
plain       logs, CSV, JSON; gzipped (single compressed files)
chunks      passages with exact character ranges and heading paths
walk        the files under a folder: odd names, links, loops, what is left out
database    one collection as one SQLite file: schema, connections, lock
rows        a chunk as a row: its tokens; stems (of English words), sketch (near-identical copies)
documents   the documents of a collection: added, removed, tokenised anew
child       the reading process; wire (its frames), pool (several at work, killed if they hang)
index       building and refreshing a collection in one transaction
activities  the `index` activity: thread, heartbeats, cancel
catalogue   which collections there are, and the status of their files
"""
