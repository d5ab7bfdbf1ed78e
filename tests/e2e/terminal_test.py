#!/usr/bin/python3
"""What the command line shows on a real terminal: a sweep that is followed at several widths, while the window is
resized, and until Ctrl-C; errors and tables.

The programs run behind a pseudo-terminal. What they print goes through a terminal emulator (pyte), so that the tests
read the screen as a person does. Usage: terminal_test.py FOLDER_OF_BINARIES
"""
import fcntl
import os
import pathlib
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

try:
    import pyte
except ImportError:
    print("skipped: there is no pyte (Debian's python3-pyte) to read a terminal with")
    sys.exit(77)

MESHWRIGHT = ""
DEADLINE_S = 90
WIDTHS = (50, 80, 200)
ROWS = 200  # high enough that nothing scrolls away


class Screen:
    """A program behind a terminal of some width."""

    def __init__(self, arguments, columns, **environment):
        self.screen = pyte.Screen(columns, ROWS)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        main, side = os.openpty()
        self.main = main
        self.resize(columns)
        env = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        env.update({"TERM": "xterm", **environment})
        self.process = subprocess.Popen([MESHWRIGHT, *arguments], stdin=side, stdout=side, stderr=side, env=env,
                                        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(side)

    def resize(self, columns):
        fcntl.ioctl(self.main, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
        self.screen.resize(ROWS, columns)

    def pump(self, wait_s):
        """Reads what has come; False once the program has closed the terminal."""
        ready, _, _ = select.select([self.main], [], [], wait_s)
        if not ready:
            return True
        try:
            data = os.read(self.main, 1 << 16)
        except OSError:
            data = b""
        self.raw += data
        self.stream.feed(data)
        return bool(data)

    def wait_for(self, seen):
        end = time.monotonic() + DEADLINE_S
        while time.monotonic() < end:
            if seen():
                return True
            if not self.pump(0.2):
                return seen()
        return False

    def type(self, data):
        os.write(self.main, data)

    def finish(self):
        """Exit code, with all output read."""
        end = time.monotonic() + DEADLINE_S
        while self.pump(0.2):
            if time.monotonic() > end:
                self.process.kill()
                raise AssertionError("did not end:\n" + self.text())
        os.close(self.main)
        return self.process.wait(timeout=DEADLINE_S)

    def lines(self):
        return [line.rstrip() for line in self.screen.display if line.strip()]

    def text(self):
        return "\n".join(self.lines())


class WatchTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.programs = []
        server = cls.start("serve", "--db", f"{cls.folder.name}/sweeps.db", "--listen", "127.0.0.1:0")
        line = server.stdout.readline().decode()
        cls.server = line.removeprefix("listening on ").split()[0]

    @classmethod
    def tearDownClass(cls):
        for program in reversed(cls.programs):
            program.terminate()
            program.communicate(timeout=DEADLINE_S)
        cls.folder.cleanup()

    @classmethod
    def start(cls, *arguments):
        log = open(f"{cls.folder.name}/{arguments[0]}.log", "wb")
        program = subprocess.Popen([MESHWRIGHT, *arguments], stdout=subprocess.PIPE, stderr=log)
        log.close()
        cls.programs.append(program)
        return program

    @classmethod
    def agent(cls):
        """Stays until the test class ends."""
        if len(cls.programs) == 1:
            cls.start("agent", "--server", cls.server, "--devices", "cpu:1", "--no-benchmark", "--state-dir",
                      f"{cls.folder.name}/state")

    def sweep(self, name, columns, *more, trials=2, steps=2, batch=2):
        return Screen(["sweep", "start", "--server", self.server, "--name", name, "--model", "tinystories-15m",
                       "--cluster", "local-cpu", "--gpus", "1", "--seq-len", "32", "--global-batch", str(batch),
                       "--trials", str(trials), "--candidates", str(trials), "--min-gain", "0", "--fresh", "--steps", str(steps),
                       *more], columns)

    def check_screen(self, screen, name):
        """Every line that stays begins with its count, or goes on with one that filled the window.

        A terminal shows a typed ^C wherever the cursor is, which may be where a line is about to begin.
        """
        rows = [line for line in screen.screen.display]
        bars = [line for line in rows if line.startswith("[#") or line.startswith("[.")]
        self.assertLessEqual(len(bars), 1, screen.text())
        previous_full = False
        for line in rows:
            if not line.strip():
                break
            starts = re.match(r"(?:\^C)?(\d+/\d+ |\[[#.]*\] |sweep |meshwright|detached|planned as |fastest: )", line)
            self.assertTrue(starts or previous_full, f"a half line in {name}: {line!r} in\n{screen.text()}")
            previous_full = len(line.rstrip()) >= screen.screen.columns - 1 and not line.startswith("[")

    def test_a_followed_sweep_leaves_whole_lines_at_every_width(self):
        self.agent()
        for columns in WIDTHS:
            with self.subTest(columns=columns):
                screen = self.sweep(f"w{columns}", columns, "--watch")
                self.assertEqual(screen.finish(), 0, screen.text())
                self.check_screen(screen, f"{columns} columns")
                for trial in (1, 2):
                    # What a trial came to is there in full, whatever the width.
                    ended = [line for line in screen.lines() if re.match(rf"\d/2 trial {trial} ", line)]
                    self.assertTrue(ended, screen.text())
                    self.assertRegex(screen.text().replace("\n", ""), rf"trial {trial} tp1.*?: *ok,")
                self.assertIn(b"\r\x1b[K", screen.raw)

    def test_a_window_that_is_resized_is_followed(self):
        self.agent()
        screen = self.sweep("resized", 200, "--watch", trials=2, steps=12, batch=12)
        for columns in (80, 50, 120):
            before = len(screen.raw)
            self.assertTrue(screen.wait_for(lambda: b"step " in screen.raw[before:]), screen.text())
            screen.resize(columns)
            mark = len(screen.raw)
            self.assertTrue(screen.wait_for(lambda: screen.raw[mark:].count(b"\r\x1b[K") >= 3), screen.text())
            # Drawn before the change, the first one may be wider.
            for drawn in screen.raw[mark:].split(b"\r\x1b[K")[2:]:
                bar = drawn.split(b"\r\n")[0]
                if bar.startswith(b"["):
                    self.assertLess(len(bar), columns)
        self.assertEqual(screen.finish(), 0, screen.text())

    def test_ctrl_c_detaches_and_says_how_to_resume(self):
        for columns in WIDTHS:
            with self.subTest(columns=columns):
                # More devices than the agent has: the sweep waits until it is left.
                screen = Screen(["sweep", "start", "--server", self.server, "--name", f"c{columns}", "--model",
                                 "tinystories-15m", "--cluster", "local-cpu", "--gpus", "8", "--seq-len", "32",
                                 "--global-batch", "8", "--trials", "1", "--steps", "1", "--watch"], columns)
                self.assertTrue(screen.wait_for(lambda: b"0/1" in screen.raw), screen.text())
                screen.type(b"\x03")
                self.assertEqual(screen.finish(), 130, screen.text())
                self.assertIn(f"sweep watch c{columns} --server {self.server} --after ", screen.raw.decode())
                self.check_screen(screen, f"{columns} columns")
                cancel = subprocess.run([MESHWRIGHT, "sweep", "cancel", f"c{columns}", "--server", self.server],
                                        capture_output=True, timeout=DEADLINE_S)
                self.assertEqual(cancel.returncode, 0, cancel.stderr)


class SearchTest(unittest.TestCase):
    def test_an_interrupt_ends_a_search_in_order(self):
        """The search takes tenths of a second: it is interrupted as soon as the program takes signals."""
        for sent, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGQUIT, 131)):
            if signal.getsignal(sent) == signal.SIG_IGN:  # as nohup has it, and the program lets it be
                continue
            search = subprocess.Popen([MESHWRIGHT, "recommend", "--model", "llama-3-405b", "--cluster", "h100", "--gpus",
                                       "6720", "--seq-len", "8192", "--global-batch", "6720", "--format", "json"],
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            end = time.monotonic() + DEADLINE_S
            while time.monotonic() < end:
                caught = re.search(r"SigCgt:\s*([0-9a-f]+)", pathlib.Path(f"/proc/{search.pid}/status").read_text())
                if int(caught[1], 16) & (1 << (signal.SIGQUIT - 1)):
                    break
            search.send_signal(sent)
            output = search.communicate(timeout=DEADLINE_S)[0]
            self.assertEqual(search.returncode, code, output[:200])
            self.assertIn(b'"code": "CANCELLED"', output)


RECOMMEND = ["recommend", "--model", "llama-3-8b", "--cluster", "h100", "--gpus", "64", "--seq-len", "4096",
             "--global-batch", "512", "--top", "2"]


class TableTest(unittest.TestCase):
    def test_tables_fold_to_the_window(self):
        for columns in WIDTHS:
            with self.subTest(columns=columns):
                screen = Screen(RECOMMEND, columns)
                self.assertEqual(screen.finish(), 0)
                plain = re.sub(rb"\x1b\[[0-9;]*m", b"", screen.raw).decode()
                rows = [line for line in plain.split("\r\n") if re.match(r" *(\d+=? +[a-z]+\d|#)", line)]
                self.assertTrue(rows)
                for line in rows:
                    self.assertLessEqual(len(line), columns)

    def test_wide_keeps_a_row_in_one_line(self):
        screen = Screen([*RECOMMEND, "--wide"], 50)
        self.assertEqual(screen.finish(), 0)
        plain = re.sub(rb"\x1b\[[0-9;]*m", b"", screen.raw).decode()
        self.assertRegex(plain, r"\r\n *1  +\S*dp\d\S* +[\d.]+ +[\d.]+ % +[\d.]+ m?s ")

    def test_colour_stands_on_a_terminal_only(self):
        self.assertIn(b"\x1b[1m", self.raw())
        self.assertNotIn(b"\x1b[", self.raw(NO_COLOR="1"))
        self.assertNotIn(b"\x1b[", self.raw(TERM="dumb"))
        piped = subprocess.run([MESHWRIGHT, *RECOMMEND], capture_output=True, timeout=DEADLINE_S)
        self.assertNotIn(b"\x1b[", piped.stdout)

    def raw(self, **environment):
        screen = Screen(RECOMMEND, 200, **environment)
        self.assertEqual(screen.finish(), 0)
        return screen.raw


if __name__ == "__main__":
    MESHWRIGHT = str(pathlib.Path(sys.argv.pop(1)).resolve() / "meshwright")
    unittest.main()
