"""report.md, from a report alone: every table with the commands that its figures come from."""
import dataclasses

NOT_TOLD = "not told"


@dataclasses.dataclass
class Table:
    title: str
    header: list
    rows: list = dataclasses.field(default_factory=list)
    commands: list = dataclasses.field(default_factory=list)
    note: str = ""

    def add(self, cells, command=None):
        self.rows.append(cells)
        if command and command not in self.commands:
            self.commands.append(command)


def told(form):
    """`form` of a value, or a word where there is none."""
    return lambda value: NOT_TOLD if value is None else form(value)


seconds = told(lambda s: f"{s:.2f} s" if s >= 1 else f"{s * 1e3:.1f} ms")
gib = told(lambda count: f"{count / (1 << 30):,.2f}")
percent = told(lambda share: f"{share * 100:.1f} %")
integer = told(lambda value: f"{value:,}")
tflops = told(lambda flops: f"{flops / 1e12:,.1f}" if flops >= 1e11 else f"{flops / 1e12:,.4f}")


def ratio(value):
    return "–" if value is None else f"{value:.3f}"


def over(one, other):
    """one / other, where both are known."""
    return one / other if one is not None and other else None


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def table_lines(table):
    yield f"### {table.title}\n"
    if table.note:
        yield f"{table.note}\n"
    yield "| " + " | ".join(table.header) + " |"
    yield "|" + "--|" * len(table.header)
    for row in table.rows:
        yield "| " + " | ".join(map(cell, row)) + " |"
    if table.commands:
        yield "\n```"
        yield from table.commands
        yield "```"
    yield ""


def machine_line(entry):
    machine = entry["machine"]
    memory = machine.get("memory_bytes")
    facts = [f"{machine.get('device_count')} x {machine.get('device')}" if entry["devices"] == "cuda"
             else "rehearsal on the processor, small shapes",
             machine.get("device_memory"), machine.get("power_limit"),
             f"driver {machine['driver']}" if machine.get("driver") else None,
             f"CUDA {machine['driver_cuda']}" if machine.get("driver_cuda") else None,
             f"Python's torch {machine['python_torch']}" if machine.get("python_torch") else "Python without torch",
             f"{machine.get('cores')} cores of {machine.get('cpu')}",
             f"{memory / (1 << 30):.0f} GiB of host memory" if memory else None]
    return ", ".join(fact for fact in facts if fact)


def entry_lines(entry, tables):
    yield machine_line(entry) + "  "
    yield f"commit {entry['commit']}, {entry['started']}, {entry['duration_s']:.0f} s: `{entry['command']}`  "
    yield f"**{entry['outcome']}**\n"
    for note in entry["notes"]:
        yield f"* {note}"
    troubles = [row for row in entry["rows"] if row["outcome"] != "ok"]
    for row in troubles:
        yield f"* {row['item']}: **{row['outcome']}**: {cell(row.get('message', ''))}"
    for gap in entry["left_out"]:
        yield f"* left out: {gap['item']}: {gap['reason']}"
    if entry["notes"] or troubles or entry["left_out"]:
        yield ""
    for table in tables(entry["rows"]):
        if table.rows:
            yield from table_lines(table)


def markdown(report, parts):
    """`parts` are the modules by name; a part of the report that is none of them is only named."""
    lines = ["# What tools/gpu measured\n",
             "Made from report.json by `tools/gpu --render`. Every table is followed by the commands that its rows "
             "come from.\n"]
    for name in [*parts, *sorted(set(report["parts"]) - set(parts))]:
        for entry in report["parts"].get(name, []):
            part = parts.get(name)
            lines.append(f"## {name}: {part.ANSWERS if part else 'a part that this version does not know'}\n")
            lines += entry_lines(entry, part.tables if part else lambda rows: [])
    return "\n".join(lines).rstrip() + "\n"
