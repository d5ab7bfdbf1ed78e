"""One run of one part: its items one after the other, each recorded as soon as it is done."""
import dataclasses
import datetime
import shlex
import sys
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
    limit_s: float | None = None  # in place of every program's own, where the user gave one
    notes: list = dataclasses.field(default_factory=list)
    preset: str | None = None  # the cluster of these devices, once it was looked for

    def run(self, command, limit_s, stdin_text=None, variables=None):
        """Runs a program with `variables` added to its environment."""
        return self.run_at_once([(command, variables)], limit_s, stdin_text)[0]

    def run_at_once(self, programs, limit_s, stdin_text=None):
        """Runs each (command, variables) beside the others."""
        limit_s = limit_s if self.limit_s is None else self.limit_s
        environment = self.installation.environment()
        return self.processes.run_at_once([(command, environment | (variables or {})) for command, variables in programs],
                                          limit_s, stdin_text)

    def shown(self, command, variables=None, reads=None):
        """A command as a reader can repeat it in the root folder; `reads` is the one whose output it reads."""
        root = f"{self.installation.root}/"
        words = ["python3" if word == sys.executable else word.removeprefix(root) for word in command]
        text = shlex.join([*(f"{name}={value}" for name, value in (variables or {}).items()), *words])
        return text if reads is None else f"{self.shown(reads)} | {text}"

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)


def utc_now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


MOST_MESSAGE = 600  # characters of a message that the report keeps; gpu.log has the rest
MOST_SHOWN = 200
LISTING = "what to run"  # the item that stands for all, where they can't be told


def one_line(message):
    return " ".join(message.split())[:MOST_MESSAGE]


def failed(message):
    return [{"outcome": "failed", "message": message}]


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

    def run(self, known_items, failed_items):
        """Runs the items that are not in `known_items`, those of `failed_items` last: what fails slowly must not keep
        the others from their turn. Returns the entry. What interrupts it is passed on, with everything recorded that
        was done."""
        waiting = [Item(LISTING, None)]
        try:
            waiting = [item for item in self._items() if item.name not in known_items]
            waiting.sort(key=lambda item: item.name in failed_items)
            while waiting:
                self._do(waiting[0])
                self._record()
                waiting = waiting[1:]
            return self._record()
        except KeyboardInterrupt:
            done = {row["item"] for row in self._entry["rows"]}
            self._leave_out([item for item in waiting if item.name not in done], "interrupted")
            self._record()
            raise

    def _do(self, item):
        self._say(f"{self._part.NAME}: {item.name} ... ")
        try:
            rows = self._rows_of(item)
        except OutOfTime as error:
            self._leave_out([item], str(error))
            self._say(f"{error}\n")
        else:
            self._say(f"{self._summary(rows)} ({rows[0]['took_s']:.1f} s)\n")
            self._entry["rows"] += rows

    def _items(self):
        """The part's items; where they can't be told, one that says so."""
        try:
            items = self._part.items(self._session)
            self._entry["items"] = [item.name for item in items]
            return items
        except OutOfTime as error:
            self._leave_out([Item(LISTING, None)], str(error))
            return []
        except Exception as error:
            rows = self._trouble(error)
            return [Item(LISTING, lambda session: rows)]

    def _trouble(self, error):
        """The row of an item that raised `error`. What programs print can't be foreseen, and the other items go on."""
        if isinstance(error, ItemFailed):
            return failed(str(error))
        self._log("".join(traceback.format_exception(error)))
        return failed(f"tools/gpu could not read what it ran: {type(error).__name__}: {error}")

    def _rows_of(self, item):
        start_s = time.monotonic()
        try:
            rows = item.run(self._session) or failed("it told nothing")
        except OutOfTime:
            raise
        except Exception as error:
            rows = self._trouble(error)
        told = {"measured_at": utc_now(), "took_s": round(time.monotonic() - start_s, 1)}
        return [{"item": item.name, **row, "message": one_line(row.get("message", "")), **told} for row in rows]

    def _leave_out(self, items, reason):
        self._entry["left_out"] += [{"item": item.name, "reason": reason} for item in items]

    def _summary(self, rows):
        troubles = [row for row in rows if row["outcome"] != "ok"]
        summaries = [row.pop("summary") for row in rows if "summary" in row]
        if troubles:
            return f"{troubles[0]['outcome']}: {troubles[0]['message'][:MOST_SHOWN]}"
        return ", ".join(["ok", *summaries])

    def _record(self):
        self._entry["notes"] = list(self._session.notes)
        self._entry["duration_s"] = round(time.monotonic() - self._start_s, 1)
        self._entry["outcome"] = reports.outcome(self._entry)
        self._save(self._entry)
        return self._entry


def new_entry(devices, machine, commit, command):
    return {"outcome": "ok", "devices": devices, "machine": machine, "commit": commit, "command": command,
            "started": utc_now(), "duration_s": 0.0, "notes": [], "items": None, "rows": [],
            "left_out": []}

