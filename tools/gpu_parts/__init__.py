"""What tools/gpu runs. A part is a list of items; an item runs programs and makes rows of the report.

A part's module has NAME, ANSWERS (the question, one line), items(session), which lists what is to be run, and
tables(rows), which lays rows out for report.md.
"""
