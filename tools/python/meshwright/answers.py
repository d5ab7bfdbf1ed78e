"""What commands answer: sequences of rows, with the JSON object behind them, as tables, HTML and drawings."""
import collections.abc
import html
import typing

Row = typing.TypeVar("Row")


class Record(dict):
    """A JSON object whose keys are attributes too: `layout.time.step_s`. Keys carry their units."""

    def __getattr__(self, name):
        try:
            return _wrapped(self[name])
        except KeyError:
            raise AttributeError(f"there is no {name}; there are {', '.join(self)}") from None

    def __dir__(self):
        return [*super().__dir__(), *self]


def _wrapped(value):
    if isinstance(value, dict):
        return Record(value)
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [Record(item) for item in value]
    return value


def flattened(record, prefix=""):
    """One level: {"time": {"step_s": 1.0}} is {"time.step_s": 1.0}. Lists stay as they are."""
    flat = {}
    for key, value in record.items():
        if isinstance(value, dict):
            flat.update(flattened(value, f"{prefix}{key}."))
        else:
            flat[prefix + key] = value
    return flat


class Answer(collections.abc.Sequence, typing.Generic[Row]):
    """What a command answered. Row is the type of a row, one of meshwright.types.

    It is a sequence of the answer's rows (Record), and `answer.json` is the whole object; its keys are attributes too,
    so `mw.recommend(…).notes` are the answer's notes. docs/json.md names the schema that describes the keys.
    """

    # `columns`: by keys of a row, the title of a short table's column and how its values are shown.
    def __init__(self, json, rows, columns=None, texts=None, messages=()):
        self.json = json
        self.messages = list(messages)
        self._rows = [json] if rows is None else json[rows]
        self._columns = columns or {}
        self._texts = texts or {}

    def __len__(self):
        return len(self._rows)

    def __getitem__(self, key):
        if isinstance(key, str):
            return _wrapped(self.json[key])
        if isinstance(key, slice):
            return [_wrapped(row) for row in self._rows[key]]
        return _wrapped(self._rows[key])

    def __getattr__(self, name):
        json = self.__dict__.get("json", {})
        if name in json:
            return _wrapped(json[name])
        raise AttributeError(f"the answer has no {name}; it has {', '.join(json)}")

    def __dir__(self):
        return [*super().__dir__(), *self.json]

    @property
    def df(self):
        """The rows as a pandas DataFrame. Columns of nested objects have dots: `time.step_s`."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("a DataFrame needs pandas, which this Python lacks: pip install pandas") from error
        return pandas.DataFrame([flattened(row) for row in self._rows])

    @property
    def svg(self):
        """The command's drawing as SVG; None for a command that draws nothing."""
        return self._texts.get("plot")

    def _cells(self):
        """The short table: a list of rows of texts."""
        rows = [flattened(row) for row in self._rows]
        names = self._columns or {key: (key, str) for key in (rows[0] if rows else {})}
        header = [title for title, _ in names.values()]
        return header, [[show(row[key]) if row.get(key) is not None else "" for key, (_, show) in names.items()]
                        for row in rows]

    def __repr__(self):
        header, rows = self._cells()
        if not rows:
            return "(nothing)"
        widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
                         for row in [header, *rows])

    def _repr_html_(self):
        header, rows = self._cells()
        def line(cells, tag):
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"
        body = "".join(line(row, "td") for row in rows)
        return f"<table><thead>{line(header, 'th')}</thead><tbody>{body}</tbody></table>{self.svg or ''}"

    def _repr_svg_(self):
        return self.svg
