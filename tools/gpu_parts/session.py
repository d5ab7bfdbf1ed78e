"""One run of one part: its items one after the other, each recorded as soon as it is done."""
import dataclasses
import datetime
import shlex
import time
import traceback

from gpu_parts import report as reports
from gpu_parts.errors import ItemFailed, OutOfTime
from gpu_parts.installation import Installation
from gpu_parts.processes import Processes


@dataclasses.dataclass(frozen=True)
class Item:
    """Something that is run and recorded by itself. run(session) returns rows, each with its outcome, which are then
    given the item's name. What a row has as `summary` is shown and not kept."""
    name: str
    run: object


@dataclasses.dataclass
class Session:
    """What an item needs to know of the run that it belongs to."""
    installation: Installation
    devices: str  # cuda or cpu
    cases: dict   # what to run on these devices, of cases.json
    machine: dict
    processes: Processes
    folder: object   # where files go that are kept beside the report
    limit_s: float | None = None  # in place of every item's own, where the user gave one
    notes: list = dataclasses.field(default_factory=list)

    def run(self, command, limit_s, stdin_text=None):
        limit_s = limit_s if self.limit_s is None else self.limit_s
        return self.processes.run(command, limit_s, self.installation.environment(), stdin_text)

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)


def utc_now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def failed(message):
    return [{"outcome": "failed", "message": message}]


def shown(command, stdin_command=None):
    """A command as a reader can repeat it."""
    text = shlex.join(map(str, command))
    return text if stdin_command is None else f"{shlex.join(map(str, stdin_command))} | {text}"


class PartRun:
    """Runs a part and keeps its entry of the report up to date."""

    def __init__(self, part, session, entry, save, say, log):
        self._part = part
        self._session = session
        self._entry = entry
        self._save = save  # takes the entry
        self._say = say    # shows text to the user, without a line's end
        self._log = log    # keeps text
        self._start_s = time.monotonic()

    def run(self, known_items):
        """Runs the items that are not in `known_items`. Returns the entry. What interrupts it is passed on, with
        everything recorded that was done."""
        try:
            items = [item for item in self._listed() if item.name not in known_items]
        except KeyboardInterrupt:
            self._leave_out([Item("everything", None)], "interrupted")
            self._record()
            raise
        for place, item in enumerate(items):
            self._say(f"{self._part.NAME}: {item.name} ... ")
            try:
                rows = self._rows_of(item)
            except OutOfTime as error:
                self._leave_out([item], str(error))
                self._say(f"{error}\n")
            except KeyboardInterrupt:
                self._leave_out(items[place:], "interrupted")
                self._record()
                raise
            else:
                self._say(f"{self._summary(rows)} ({rows[0]['took_s']:.1f} s)\n")
                self._entry["rows"] += rows
            self._record()
        return self._record()

    def _listed(self):
        try:
            return self._part.items(self._session)
        except (ItemFailed, OutOfTime) as error:
            message = str(error)
            return [Item("what to run", lambda session: failed(message))]

    def _rows_of(self, item):
        start_s = time.monotonic()
        try:
            rows = item.run(self._session)
        except ItemFailed as error:
            rows = failed(str(error))
        except (OutOfTime, KeyboardInterrupt):
            raise
        except Exception as error:  # what a program printed can't be foreseen: the other items go on
            self._log(traceback.format_exc())
            rows = failed(f"tools/gpu could not read what it ran: {type(error).__name__}: {error}")
        told = {"measured_at": utc_now(), "took_s": round(time.monotonic() - start_s, 1)}
        return [{"item": item.name, **row, **told} for row in rows]

    def _leave_out(self, items, reason):
        self._entry["left_out"] += [{"item": item.name, "reason": reason} for item in items]

    def _summary(self, rows):
        troubles = [row for row in rows if row["outcome"] != "ok"]
        summaries = [row.pop("summary") for row in rows if "summary" in row]
        if troubles:
            return f"{troubles[0]['outcome']}: {troubles[0].get('message', '')}"
        return ", ".join(["ok", *summaries])

    def _record(self):
        self._entry["notes"] = list(self._session.notes)
        self._entry["duration_s"] = round(time.monotonic() - self._start_s, 1)
        self._entry["outcome"] = reports.outcome(self._entry)
        self._save(self._entry)
        return self._entry


def new_entry(devices, machine, commit, command):
    return {"outcome": "ok", "devices": devices, "machine": machine, "commit": commit, "command": command,
            "started": utc_now(), "duration_s": 0.0, "notes": [], "rows": [], "left_out": []}

