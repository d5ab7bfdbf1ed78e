#!/usr/bin/env python3
"""An agent whose token is in its environment: it connects by the token, and no worker sees it.

usage: agent_token_test.py BIN_DIR [unittest's arguments]
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "docs"))
import page  # noqa: E402

MESHWRIGHT = pathlib.Path(sys.argv.pop(1)).resolve() / "meshwright"
WITHIN_S = 30


class AgentToken(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)
        recipe = [block for block in page.blocks(page.SOURCE / "docs/operations.md") if block.heading == "certificates"]
        subprocess.run(["bash", "-e"], input="\n".join(recipe[0].lines), text=True, cwd=self.folder, check=True,
                       capture_output=True)

    def start(self, log: str, *words: str, **environment: str) -> subprocess.Popen:
        with open(self.folder / log, "w", encoding="utf-8") as file:
            process = subprocess.Popen([MESHWRIGHT, *words], cwd=self.folder, stdout=file, stderr=file,
                                       env={**os.environ, **environment})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def line_of(self, log: str, part: str) -> str:
        for _ in range(10 * WITHIN_S):
            found = [line for line in (self.folder / log).read_text().splitlines() if part in line]
            if found:
                return found[0]
            time.sleep(0.1)
        return self.fail(f"no '{part}' within {WITHIN_S} s: {(self.folder / log).read_text()}")

    def test_connects_the_agent_and_stays_out_of_its_workers(self):
        server = self.start("server", "serve", "--db", "sweeps.db", "--listen", "127.0.0.1:0", "--tls-cert", "tls/server.pem",
                            "--tls-key", "tls/server.key")
        address = self.line_of("server", "listening on ").split()[-1]
        token = subprocess.run([MESHWRIGHT, "token", "create", "--db", "sweeps.db", "--role", "agent", "--agent", "node-3"],
                               cwd=self.folder, capture_output=True, text=True, check=True).stdout
        version = subprocess.run([MESHWRIGHT, "--version"], capture_output=True, text=True, check=True).stdout.strip()
        worker, seen = self.folder / "worker", self.folder / "environment"
        worker.write_text(f"#!/bin/sh\nenv >'{seen}'\necho {version}\n")
        worker.chmod(0o700)
        self.start("agent", "agent", "--server", address, "--tls-ca", "tls/ca.pem", "--name", "node-3", "--devices", "cpu:1",
                   "--worker", str(worker), "--no-benchmark", "--state-dir", "state", MESHWRIGHT_TOKEN=token.strip())
        self.line_of("agent", "connected to")
        self.assertIn("PATH=", seen.read_text())
        self.assertNotIn("mwt_", seen.read_text())
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(WITHIN_S), 0)


if __name__ == "__main__":
    unittest.main()
