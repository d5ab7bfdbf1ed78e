"""Network namespaces with a server in one and agents in others, with TLS and tokens, since the server's address is not
loopback. What is made is named after this process and removed at the end, whatever happens.
"""
import os
import pathlib
import subprocess
import sys
import unittest

import faults

SERVER_ADDRESS = "10.199.0.1"


def run(*words) -> None:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(f"{' '.join(map(str, words))}: {done.stderr.strip()}")


class Hub:
    """A namespace with the server's address, and others that are each connected to it by a cable of their own: what
    they say to each other goes through it."""

    def __init__(self, *spokes: str):
        self.near = f"mw-near-{os.getpid()}"
        self.spokes = {spoke: f"mw-{spoke}-{os.getpid()}" for spoke in spokes}
        self.addresses = {spoke: f"10.199.0.{number}" for number, spoke in enumerate(spokes, start=2)}
        try:
            run("ip", "netns", "add", self.near)
            run("ip", "-n", self.near, "link", "add", "name", "hub", "type", "bridge")
            run("ip", "-n", self.near, "address", "add", f"{SERVER_ADDRESS}/24", "dev", "hub")
            for device in ("lo", "hub"):
                run("ip", "-n", self.near, "link", "set", device, "up")
            for spoke in spokes:
                self._connect(spoke)
        except OSError:
            self.remove()
            raise

    def _connect(self, spoke: str) -> None:
        far = self.spokes[spoke]
        run("ip", "netns", "add", far)
        run("ip", "link", "add", "name", f"to-{spoke}", "netns", self.near, "type", "veth",
            "peer", "name", "cable", "netns", far)
        run("ip", "-n", self.near, "link", "set", f"to-{spoke}", "master", "hub")
        run("ip", "-n", far, "address", "add", f"{self.addresses[spoke]}/24", "dev", "cable")
        for namespace, device in ((self.near, f"to-{spoke}"), (far, "lo"), (far, "cable")):
            run("ip", "-n", namespace, "link", "set", device, "up")

    def inside(self, spoke: str = "") -> tuple[str, ...]:
        """What a program is started by to run there; in the hub itself without a name."""
        return ("ip", "netns", "exec", self.spokes[spoke] if spoke else self.near)

    def set(self, spoke: str, state: str) -> None:
        """Of the far end of its cable: the hub keeps its address and route, as a server does behind a broken switch."""
        run("ip", "-n", self.spokes[spoke], "link", "set", "cable", state)

    def cut(self, one: str, other: str) -> None:
        """From each other alone; nothing tells them so."""
        for here, there in ((one, other), (other, one)):
            run("ip", "-n", self.spokes[here], "route", "add", "blackhole", f"{self.addresses[there]}/32")

    def remove(self) -> None:
        for namespace in (self.near, *self.spokes.values()):
            subprocess.run(["ip", "netns", "delete", namespace], stderr=subprocess.DEVNULL, check=False)


# Run in the hub's namespace, with a device and a file: writes every packet that the device sees to the file.
CAPTURE = """
import socket, sys
packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
packets.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
packets.bind((sys.argv[1], 0))
print("captures", file=sys.stderr, flush=True)
with open(sys.argv[2], "wb", buffering=0) as capture:
    while True:
        capture.write(packets.recv(1 << 17))
"""


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
    """Skipped where the machine allows no namespaces."""

    SPOKES: tuple[str, ...] = ()

    def setUp(self):
        super().setUp()
        try:
            self.hub = Hub(*self.SPOKES)
        except OSError as error:
            raise unittest.SkipTest(f"this machine allows no network namespaces ({error})") from None
        self.addCleanup(self.hub.remove)
        os.umask(0o077)
        make_authority(self.folder)
        self.address = f"{SERVER_ADDRESS}:0"
        self.client = self.hub.inside()
        self.serve("--tls-cert", str(self.folder / "server.pem"), "--tls-key", str(self.folder / "server.key"),
                   wrapper=self.client)
        self.access = self.access_of("ann", "--role", "operator", "--name", "ann")

    def capture(self, spoke: str) -> pathlib.Path:
        """The file that gets every packet which passes the spoke's cable from now on."""
        packets = self.folder / f"{spoke}.packets"
        self.start(*self.hub.inside(), sys.executable, "-c", CAPTURE, f"to-{spoke}", packets).await_line("captures")
        return packets

    def access_of(self, name: str, *who: str) -> tuple[str, ...]:
        made = self.run_cli("token", "create", "--db", self.database, *who)
        self.assertEqual(made.returncode, 0, made.stderr)
        token = self.folder / f"{name}.token"
        token.write_text(made.stdout)
        return ("--tls-ca", str(self.folder / "ca.pem"), "--token-file", str(token))

    def start_agent(self, name: str, spoke: str, step_s: float, devices: int = 2) -> faults.Agent:
        access = self.access_of(name, "--role", "agent", "--agent", name)
        return self.connected_agent(name, *access, wrapper=self.hub.inside(spoke), devices=devices,
                                    environment={"STAND_IN_STEP_S": str(step_s)})
