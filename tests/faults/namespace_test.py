#!/usr/bin/env python3
"""A link between two network namespaces that goes down and comes back: for less than a lease, and for more.

The server is in one namespace and an agent in the other, with TLS and tokens, since the server's address is not
loopback. Skipped (exit code 77) where the machine allows no namespaces. What is made is named after this process and
removed at the end, whatever happens.

Usage: namespace_test.py FOLDER_OF_BINARIES [unittest's arguments]
"""
import os
import pathlib
import subprocess
import time
import unittest

import faults

SERVER_ADDRESS = "10.199.0.1"
AGENT_ADDRESS = "10.199.0.2"


def run(*words) -> None:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(f"{' '.join(map(str, words))}: {done.stderr.strip()}")


class Link:
    """Two namespaces and a cable between them."""

    def __init__(self):
        self.near = f"mw-near-{os.getpid()}"
        self.far = f"mw-far-{os.getpid()}"
        try:
            for namespace in (self.near, self.far):
                run("ip", "netns", "add", namespace)
            run("ip", "link", "add", "name", "cable", "netns", self.near, "type", "veth",
                "peer", "name", "cable", "netns", self.far)
            for namespace, address in ((self.near, SERVER_ADDRESS), (self.far, AGENT_ADDRESS)):
                run("ip", "-n", namespace, "address", "add", f"{address}/24", "dev", "cable")
                run("ip", "-n", namespace, "link", "set", "lo", "up")
                run("ip", "-n", namespace, "link", "set", "cable", "up")
        except OSError:
            self.remove()
            raise

    def set(self, state: str) -> None:
        """Of the far end: the near one keeps its address and route, as a server does behind a broken switch."""
        run("ip", "-n", self.far, "link", "set", "cable", state)

    def remove(self) -> None:
        for namespace in (self.near, self.far):
            subprocess.run(["ip", "netns", "delete", namespace], stderr=subprocess.DEVNULL, check=False)


def make_authority(folder: pathlib.Path) -> None:
    """As docs/operations.md does: ca.pem, and server.pem with server.key."""
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc"]
    request = folder / "server.csr"
    run("openssl", "req", "-x509", *key, "-keyout", folder / "ca.key", "-out", folder / "ca.pem", "-days", "2", "-subj",
        "/CN=CA", "-addext", "keyUsage=critical,keyCertSign,cRLSign")
    run("openssl", "req", "-new", *key, "-keyout", folder / "server.key", "-subj", "/CN=server", "-addext",
        f"subjectAltName=IP:{SERVER_ADDRESS}", "-addext", "extendedKeyUsage=serverAuth", "-out", request)
    run("openssl", "x509", "-req", "-in", request, "-CA", folder / "ca.pem", "-CAkey", folder / "ca.key",
        "-CAcreateserial", "-copy_extensions", "copy", "-days", "2", "-out", folder / "server.pem")


class NamespaceTest(faults.FaultTest):
    LEASE_S = 4.0

    def setUp(self):
        super().setUp()
        try:
            self.link = Link()
        except OSError as error:
            raise unittest.SkipTest(f"this machine allows no network namespaces ({error})") from None
        self.addCleanup(self.link.remove)
        os.umask(0o077)
        make_authority(self.folder)
        self.in_near = ("ip", "netns", "exec", self.link.near)
        self.in_far = ("ip", "netns", "exec", self.link.far)
        self.address = f"{SERVER_ADDRESS}:0"
        self.client = self.in_near
        self.serve("--tls-cert", str(self.folder / "server.pem"), "--tls-key", str(self.folder / "server.key"),
                   wrapper=self.in_near)
        self.access = self.access_of("ann", "--role", "operator", "--name", "ann")

    def access_of(self, name: str, *who: str) -> tuple[str, ...]:
        made = self.run_cli("token", "create", "--db", self.database, *who)
        self.assertEqual(made.returncode, 0, made.stderr)
        token = self.folder / f"{name}.token"
        token.write_text(made.stdout)
        return ("--tls-ca", str(self.folder / "ca.pem"), "--token-file", str(token))

    def start_agent(self, name: str, place: tuple[str, ...], step_s: float) -> faults.Agent:
        access = self.access_of(name, "--role", "agent", "--agent", name)
        return self.connected_agent(name, *access, wrapper=place, environment={"STAND_IN_STEP_S": str(step_s)})

    def start_far_and_near(self, far_step_s: float) -> None:
        self.far = self.start_agent("far", self.in_far, far_step_s)
        self.start_sweep("s", trials=1)
        self.sweep = self.watch("s")
        self.sweep.await_kind("trial_running")
        self.near = self.start_agent("near", self.in_near, 0.2)

    def check_trial(self, agent: str, attempt: int) -> None:
        shown = self.check_measured("s")
        self.assertEqual((shown["trials"][0]["agent"], shown["trials"][0]["attempt"]), (agent, attempt))
        self.check_acknowledged()
        self.stop_everything()

    def test_a_link_that_is_down_for_less_than_a_lease_costs_nothing(self):
        self.start_far_and_near(far_step_s=0.7)
        self.link.set("down")
        time.sleep(self.LEASE_S / 3)
        self.link.set("up")
        self.sweep.await_end()
        self.assertEqual(self.near.given(), [])
        self.check_trial("far", 1)

    def test_behind_a_link_that_is_down_for_longer_the_agent_ends_its_workers_first(self):
        self.start_far_and_near(far_step_s=5.0)
        self.link.set("down")
        left = faults.await_true("near gets the trial", lambda: self.near.given() and [self.far.workers()])[0]
        self.assertEqual(left, [])
        self.far.await_line("acknowledged no heartbeat for .*: ending the trial")
        self.sweep.await_end()
        self.link.set("up")
        faults.await_true("far is back", lambda: {"far", "near"} == {
            agent["name"] for agent in self.ask("agents", "list")["agents"]})
        self.check_trial("near", 2)


if __name__ == "__main__":
    faults.main()
