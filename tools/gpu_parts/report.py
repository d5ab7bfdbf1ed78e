"""report.json: what was measured, where, and by which command. docs/gpu.md describes the format.

A report holds entries by part. Entries of one part differ in commit, kind of devices or device; a run adds to the
entry that is its own, item by item, so that nothing that was measured is lost by measuring something else.
"""
import contextlib
import fcntl
import json
import os

SCHEMA = 1
FAILED = ("failed", "timeout")  # outcomes of rows; the others are ok, oom and skipped


class NotAReport(Exception):
    """The file is there but is no report of this schema."""


def empty():
    return {"schema": SCHEMA, "parts": {}}


def identity(entry):
    return entry["commit"], entry["devices"], entry["machine"].get("device")


def outcome(entry):
    """failed, incomplete or ok: what an entry says as a whole."""
    if any(row["outcome"] in FAILED for row in entry["rows"]):
        return "failed"
    return "incomplete" if entry["left_out"] else "ok"


def merge_rows(older, newer):
    """Rows item by item: those of `newer` in the place of the older ones of the same item."""
    replaced = {row["item"] for row in newer}
    rows, placed = [], set()
    for row in older:
        item = row["item"]
        if item not in replaced:
            rows.append(row)
        elif item not in placed:
            placed.add(item)
            rows += [new for new in newer if new["item"] == item]
    return rows + [row for row in newer if row["item"] not in placed]


def merge_entries(one, other):
    """Two entries of one identity. What the later run left out, the earlier one still tells, unless the part has no
    such item any more."""
    older, newer = sorted((one, other), key=lambda entry: entry["started"])

    def stands(told):
        return newer["items"] is None or told["item"] in newer["items"]

    rows = merge_rows(list(filter(stands, older["rows"])), newer["rows"])
    told = {row["item"] for row in rows}
    gaps = [*filter(stands, older["left_out"]), *newer["left_out"]]
    left_out = {gap["item"]: gap for gap in gaps if gap["item"] not in told}
    items = older["items"] if newer["items"] is None else newer["items"]
    merged = {**newer, "items": items, "rows": rows, "left_out": list(left_out.values())}
    merged["outcome"] = outcome(merged)
    return merged


def add_entry(report, part, entry):
    """Returns the report with `entry` merged in; entries lie in the order in which they began."""
    entries = {identity(known): known for known in report["parts"].get(part, [])}
    known = entries.get(identity(entry))
    entries[identity(entry)] = entry if known is None else merge_entries(known, entry)
    ordered = sorted(entries.values(), key=lambda one: one["started"])
    return {**report, "parts": {**report["parts"], part: ordered}}


def merge(reports):
    merged = empty()
    for report in reports:
        for part, entries in report["parts"].items():
            for entry in entries:
                merged = add_entry(merged, part, entry)
    return merged


def read(path):
    """The report in a file; an empty one where there is none. Raises NotAReport, OSError."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return empty()
    try:
        report = json.loads(text)
        if report["schema"] != SCHEMA:
            raise NotAReport(f"{path} has schema {report['schema']}; this version reads {SCHEMA}")
        for entries in report["parts"].values():
            for entry in entries:
                identity(entry), outcome(entry), entry["started"], entry["items"]
        return report
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotAReport(f"{path} is not a report of tools/gpu") from error


def write_atomically(path, text):
    """A reader sees the old text or the new one, whatever ends this process."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(partial, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


class ReportFolder:
    """A folder with report.json and report.md. Several runs may write into it at once."""

    def __init__(self, folder, render):
        self._folder = folder
        self._render = render  # markdown of a report

    @property
    def path(self):
        return self._folder / "report.json"

    def update(self, change):
        """Replaces the report by change(report); report.md follows."""
        with self._locked():
            report = change(read(self.path))
            write_atomically(self.path, json.dumps(report, indent=1, ensure_ascii=False) + "\n")
            write_atomically(self._folder / "report.md", self._render(report))

    def add(self, part, entry):
        self.update(lambda report: add_entry(report, part, entry))

    @contextlib.contextmanager
    def _locked(self):
        folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)
