"""Runs a page's commands as a reader types them: in one shell, in a folder of their own, one after another.

The shell has a network of its own, in which every port is free and 10.0.0.1, the server's address on the pages, is this
machine, and its own process ids: all that it started ends with it. `&` behind a command stands for a terminal of its
own; as a reader would, the shell goes on when that command has said that it is ready.
"""
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import typing

import page

ADDRESSES = ("10.0.0.1", "10.0.0.2")
LIMIT_S = 600
# What a command that stays says when others can rely on it.
READY = {"serve": "listening on", "agent": "connected to", "ui": "http://"}
# Exit codes of a command whose output the page shows: it may show an error.
MAY_FAIL = "[ $status -lt 126 ]"
PRELUDE = """
set -o pipefail
ready() {
  for _ in $(seq 400); do
    grep -qs -- "$2" "$LOG/$1.out" "$LOG/$1.err" && return
    sleep 0.1
  done
  echo "it did not say '$2' within 40 s" >>"$LOG/$1.err"
  echo 1 0 40 >"$LOG/$1.exit"
  exit 1
}
leave() { local left; left=$(jobs -p); [ -z "$left" ] || kill $left 2>/dev/null; wait; }
trap leave EXIT
ip link set lo up || exit 77
"""


class Outcome(typing.NamedTuple):
    command: page.Command
    exit_code: int | None  # None: it did not end
    out: str
    err: str
    seconds: float


class Run(typing.NamedTuple):
    outcomes: list[Outcome]
    ended: bool  # whether all that the page started ended on SIGTERM, within LIMIT_S of the page's begin


def waits_for(text: str) -> str | None:
    """What a command says that goes on behind an `&`; None where nothing has to be waited for."""
    if not re.search(r"(?<![&>])&(?![&>])", re.sub(r"'[^']*'|\"[^\"]*\"", "", text)):
        return None
    started = re.search(r"\bmeshwright (\w+)", text)
    return READY.get(started[1]) if started else None


def script(commands: list[page.Command]) -> str:
    whole = PRELUDE + "".join(f"ip addr add {address}/32 dev lo\n" for address in ADDRESSES)
    for number, command in enumerate(commands):
        whole += f'began=$EPOCHREALTIME\n{{ {command.text}\n}} >"$LOG/{number}.out" 2>"$LOG/{number}.err" </dev/null\n'
        whole += f'status=$?\necho $status $began $EPOCHREALTIME >"$LOG/{number}.exit"\n'
        whole += f"{MAY_FAIL if command.printed else '[ $status = 0 ]'} || exit 1\n"
        said = waits_for(command.text)
        if said:
            whole += f"ready {number} {shlex.quote(said)}\n"
    return whole


def unshare() -> list[str]:
    own = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    return own if os.geteuid() == 0 else [*own, "--user", "--map-root-user"]


def is_possible() -> bool:
    if not shutil.which("ip") or not shutil.which("unshare"):
        return False
    tried = subprocess.run([*unshare(), "ip", "link", "set", "lo", "up"], capture_output=True, check=False)
    return tried.returncode == 0


def run(commands: list[page.Command], files: dict[str, str], bin_dir: pathlib.Path,
        variables: dict[str, str]) -> Run:
    """Ends at the first command that fails. What is missing behind it did not run."""
    with tempfile.TemporaryDirectory(prefix="mw-page-") as top:
        folder, log, home = (pathlib.Path(top, name) for name in ("work", "log", "home"))
        for made in (folder, log, home):
            made.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text)
        environment = {"PATH": f"{bin_dir}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                       "HOME": str(home), "LOG": str(log), "LANG": "C.UTF-8", "TERM": "dumb", **variables}
        with subprocess.Popen([*unshare(), "bash", "-c", script(commands)], cwd=folder, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              start_new_session=True) as shell:
            ended = True
            try:
                shell.wait(LIMIT_S)
            except subprocess.TimeoutExpired:
                ended = False
                os.killpg(shell.pid, signal.SIGKILL)
        return Run([outcome for number, command in enumerate(commands)
                    for outcome in [outcome_of(log, number, command)] if outcome], ended)


def outcome_of(log: pathlib.Path, number: int, command: page.Command) -> Outcome | None:
    def text(kind: str) -> str:
        file = log / f"{number}.{kind}"
        return file.read_text(errors="replace") if file.exists() else ""

    if not (log / f"{number}.out").exists():
        return None
    code, began, ended = text("exit").split() or (None, 0, 0)
    return Outcome(command, None if code is None else int(code), text("out"), text("err"), float(ended) - float(began))
