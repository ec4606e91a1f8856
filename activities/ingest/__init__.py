"""Collections: reading files, cutting them into chunks, the SQLite index, the `index` activity.

document    what a reader makes of a file, and why a file can not be read
sniff       bytes to text: what a file really is, whatever its name says
readers     one file to one document: front matter and dates, the right reader
front_matter  the head of a Markdown file
markdown    Markdown and plain text: headings, links
html        HTML: text without navigation and hidden parts, headings, tables, code
chunks      passages with exact character ranges and heading paths
walk        the files under a folder: odd names, links, loops, what is left out
database    one collection as one SQLite file: schema, connections, lock
index       building and refreshing a collection in one transaction
activities  the `index` activity: thread, heartbeats, cancel
catalogue   which collections there are, and the status of their files
"""
