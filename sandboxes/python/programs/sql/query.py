"""Runs one query on one database of SQLite's. The query is a text that this program neither knows nor trusts.

`run` builds the database in memory by `script`, or opens the file `database.sqlite` where `script` is `None`, and answers with a word and what
belongs to it: `rows` and the rows; else a reason: `database`, there is none; `compile`, SQLite takes the text for no single statement that gives
rows; `refused`, the statement does more than read; `failed`, it fails while it runs; `large`, its rows cost more than `most` bytes of output.
"""

import sqlite3

# What a statement may do. All else changes a database, opens another one, or sets how SQLite works.
READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
# What a value takes of the limit at least.
VALUE = 10


def run(query, script, most):
    try:
        connection = open_database(script)
    except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
        return ["database", describe(error)]
    refused, begun = [], []

    def authorize(action, *_):
        if action in READING:
            return sqlite3.SQLITE_OK
        refused.append(action)
        return sqlite3.SQLITE_DENY

    connection.set_authorizer(authorize)
    # It is called when a statement begins, which has been compiled then.
    connection.set_trace_callback(begun.append)
    rows, cost = [], 0
    try:
        cursor = connection.execute(query)
        if cursor.description is None:
            return ["compile", "the text holds no statement that gives rows"]
        for row in cursor:
            cost += VALUE + sum(map(cost_of, row))
            if cost > most:
                return ["large", f"its rows cost more than {most} bytes"]
            rows.append(list(row))
    except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
        word = "refused" if refused else "failed" if begun else "compile"
        return [word, describe(error)]
    return ["rows", rows]


def open_database(script):
    if script is None:
        # Immutable: SQLite needs neither locks nor a journal for it.
        connection = sqlite3.connect("file:database.sqlite?mode=ro&immutable=1", uri=True, isolation_level=None)
    else:
        connection = sqlite3.connect(":memory:", isolation_level=None)
        connection.executescript(script)
    # As the field's evaluations read texts that are no UTF-8.
    connection.text_factory = lambda text: text.decode(errors="ignore")
    connection.execute("PRAGMA temp_store = MEMORY")
    # A file is first read here.
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    return connection


def cost_of(value):
    return VALUE + (len(value) if isinstance(value, (str, bytes)) else 0)


def describe(error):
    return f"{type(error).__name__}: {error}"
