"""What tests of the page share: a server with its page, a browser, and a check that the page reported no error."""
import contextlib
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

import axe_playwright_python
import playwright.sync_api

DEADLINE_S = 60
QUIET_LOOKS = 3
LOOK_MS = 50
BIN = pathlib.Path()  # set by page_test.py
AXE = pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js"
QUESTION = "model=llama-3-8b&cluster=h100&gpus=64&seq=8192&batch=256"


class Server:
    """`meshwright serve` with its page, and a database of its own."""

    def __init__(self, *arguments, folder=None, http="127.0.0.1:0", command="serve"):
        self.folder = folder or tempfile.mkdtemp(prefix="meshwright-page-test-")
        listen = ["--db", f"{self.folder}/sweeps.db", "--listen", "127.0.0.1:0", "--http", http]
        self.process = subprocess.Popen([BIN / "meshwright", command, *listen, *arguments], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        said = [self.process.stdout.readline(), self.process.stdout.readline()]
        found = [re.search(r"(?:listening|page) on (\S+)$", line.strip()) for line in said]
        if not all(found):
            raise RuntimeError(f"the server said {said}")
        self.address, self.url = (match[1] for match in found)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(DEADLINE_S)
        self.process.stdout.close()


@contextlib.contextmanager
def agent(server):
    """An agent of this machine with two ranks."""
    process = subprocess.Popen([BIN / "meshwright", "agent", "--server", server.address, "--devices", "cpu:2", "--name", "here",
                                "--no-benchmark"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(DEADLINE_S)


def ask(*arguments, timeout_s=DEADLINE_S):
    """What a command prints."""
    return subprocess.run([BIN / "meshwright", *arguments], check=True, capture_output=True, text=True, timeout=timeout_s).stdout


shared = {}


def driver():
    if "driver" not in shared:
        shared["playwright"] = playwright.sync_api.sync_playwright().start()
        shared["driver"] = shared["playwright"].chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"], timeout=1000 * DEADLINE_S)
    return shared["driver"]


def close():
    if "driver" in shared:
        shared["driver"].close()
        shared["playwright"].stop()
    if "server" in shared:
        shared["server"].stop()
    shared.clear()


class PageTest(unittest.TestCase):
    """Each test has a browser of its own on the server that all share. Errors of the page's console fail it."""

    def setUp(self):
        self.errors = []
        self.expected_errors = []

    def server(self):
        if "server" not in shared:
            shared["server"] = Server()
        return shared["server"]

    def context(self, **options):
        context = driver().new_context(**{"viewport": {"width": 1300, "height": 900}, "permissions": ["clipboard-read", "clipboard-write"],
                                          **options})
        context.set_default_timeout(1000 * DEADLINE_S)
        context.set_default_navigation_timeout(1000 * DEADLINE_S)
        self.addCleanup(context.close)
        return context

    def open(self, fragment="", context=None, url=None, **options):
        page = (context or self.context(**options)).new_page()
        page.under_way = set()  # requests
        page.on("request", lambda request: page.under_way.add(request))
        for end in ("requestfinished", "requestfailed"):
            page.on(end, lambda request: page.under_way.discard(request))
        page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.goto((url or self.server().url) + fragment)
        return page

    def tearDown(self):
        unexpected = [e for e in self.errors if not any(re.search(pattern, e) for pattern in self.expected_errors)]
        self.assertEqual(unexpected, [])

    def assert_accessible(self, page, rules=""):
        """axe-core finds nothing serious on the page as it is now, by all of its rules or by one."""
        page.evaluate(AXE.read_text())
        only = f", runOnly: ['{rules}']" if rules else ""
        found = page.evaluate(f"axe.run(document, {{resultTypes: ['violations']{only}}})")
        self.assertEqual([(v["id"], v["help"], [node["html"][:120] for node in v["nodes"]][:4]) for v in found["violations"]
                          if v["impact"] in ("serious", "critical")], [])

    def until(self, condition, message=None):
        """Waits until `condition()` holds: the page's policy forbids the expressions that playwright would evaluate."""
        deadline = time.monotonic() + DEADLINE_S
        while not condition():
            if time.monotonic() > deadline:
                self.fail(message or "the page did not come to this")
            time.sleep(0.02)


def quiet(page):
    """Waits until the page asks nothing: what it shows then is whole."""
    looks = 0
    while looks < QUIET_LOOKS:
        page.wait_for_timeout(LOOK_MS)
        looks = 0 if page.under_way else looks + 1


def address(page):
    """Where the page is, as it says itself: what history.replaceState() wrote reaches playwright later."""
    return page.evaluate("decodeURIComponent(location.hash.replaceAll('+', ' '))")


def sentence(page):
    """The sentence that decides, once it is there."""
    page.locator(".verdict .sentence").first.wait_for()
    return page.locator(".verdict .sentence").first.inner_text()
