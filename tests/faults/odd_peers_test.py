#!/usr/bin/env python3
"""Peers that never read, and peers that speak no gRPC: the server's memory stays bounded, and others are served.

Usage: odd_peers_test.py FOLDER_OF_BINARIES [unittest's arguments]
"""
import os
import random
import socket
import ssl
import time

import faults
import http2_peer
from http2_peer import Http2Peer, field

WATCH = "/meshwright.v1.Sweeps/WatchSweep"
CONNECT = "/meshwright.v1.Agents/Connect"
PROTOCOL = 3  # executor/wire/protocol.h
CPU = 1  # DEVICE_KIND_CPU
MIB = 1 << 20


class OddPeersTest(faults.FaultTest):
    STEP_S = "0.01"

    def setUp(self):
        super().setUp()
        self.server = self.serve()

    def peer(self, window: int) -> Http2Peer:
        peer = Http2Peer(self.address, window)
        self.addCleanup(peer.close)
        return peer

    def connect(self) -> socket.socket:
        host, port = self.address.rsplit(":", 1)
        connection = socket.create_connection((host, int(port)), timeout=10.0)
        self.addCleanup(connection.close)
        return connection

    def check_serves(self) -> None:
        """A sweep from its start to its end, with somebody who watches it."""
        name = f"after-{len(self.servers[-1].err)}-{time.monotonic_ns()}"
        self.start_sweep(name, trials=3)
        watch = self.watch(name)
        if not self.agents:
            self.connected_agent("a")
        watch.await_end()
        self.check_measured(name)
        self.assertTrue(self.server.running())

    def test_watchers_that_never_read_cost_little_and_hold_up_nobody(self):
        self.connected_agent("a")
        self.start_sweep("s", trials=40)
        self.watch("s").await_end()
        before = faults.resident_bytes(self.server.pid)
        # 1,000 streams of more than 100 events, of which each may get 0 bytes, or as much as a socket holds.
        for window in (0, 1 << 20):
            for _ in range(10):
                peer = self.peer(window)
                for _ in range(50):
                    peer.call(WATCH, field(1, "sweeps/s"))
                self.ask("sweep", "list")
        self.check_serves()
        grown = faults.resident_bytes(self.server.pid) - before
        print(f"1,000 watchers that don't read: {grown / MIB:.0f} MiB more", flush=True)
        self.assertLess(grown, 200 * MIB)
        self.stop_everything()

    def test_watchers_of_a_running_sweep_that_never_read_miss_its_end_alone(self):
        self.start_sweep("s", trials=40)
        alive = [self.peer(0) for _ in range(10)]
        for peer in alive:
            for _ in range(20):
                peer.call(WATCH, field(1, "sweeps/s"))
        reader = self.watch("s")
        before = faults.resident_bytes(self.server.pid)
        self.connected_agent("a")
        self.connected_agent("b")
        reader.await_end()
        self.check_measured("s")
        self.assertLess(faults.resident_bytes(self.server.pid) - before, 100 * MIB)
        self.stop_everything()

    def test_a_peer_that_answers_no_ping_is_given_up(self):
        """Of all that one does, TCP alone works: its kernel takes what comes."""
        peer = self.peer(0)
        peer.call(WATCH, field(1, "sweeps/none"))
        self.start_sweep("s", trials=1)
        peer.call(WATCH, field(1, "sweeps/s"))
        time.sleep(25.0)  # twice 10 s, as docs/operations.md has it, and some
        peer.socket.setblocking(False)
        ended = False
        try:
            while peer.socket.recv(1 << 16):
                pass
            ended = True
        except BlockingIOError:
            pass
        except OSError:
            ended = True
        self.assertTrue(ended)
        self.check_serves()
        self.stop_everything()

    def test_an_agent_that_never_reads_costs_little(self):
        """It says it is alive as fast as it can, and each time the server has something to acknowledge."""
        peer = self.peer(0)
        devices = field(4, CPU) + field(2, 2)
        register = field(1, "deaf") + field(2, "1") + field(3, "host") + field(4, devices) + field(12, PROTOCOL)
        stream = peer.call(CONNECT, field(1, register), ends=False)
        faults.await_true("it is an agent", lambda: self.connected_agents())
        before = faults.resident_bytes(self.server.pid)
        sent = self.send_heartbeats(peer, stream, seconds=10.0)
        grown = faults.resident_bytes(self.server.pid) - before
        print(f"{sent} heartbeats of an agent that does not read: {grown / MIB:.0f} MiB more", flush=True)
        self.assertLess(grown, 30 * MIB)
        peer.close()
        self.check_serves()
        self.stop_everything()

    def send_heartbeats(self, peer: Http2Peer, stream: int, seconds: float) -> int:
        """As many as the connection's window takes, until the server has had enough. Returns how many."""
        sent = 0
        end = time.monotonic() + seconds
        window = 65535 - 200
        while time.monotonic() < end:
            beat = http2_peer.message(field(2, field(2, sent + 1)))
            while window > len(beat) and time.monotonic() < end:
                try:
                    peer.socket.sendall(http2_peer.frame(http2_peer.DATA, 0, stream, beat))
                except OSError:
                    return sent
                window -= len(beat)
                sent += 1
            for kind, _, of_stream, payload in peer.frames(timeout_s=0.2):
                if kind == http2_peer.GOAWAY:
                    return sent
                if kind == http2_peer.WINDOW_UPDATE and of_stream == stream:
                    window += int.from_bytes(payload, "big") & 0x7FFFFFFF
                    break
        return sent

    @staticmethod
    def call_of(method: str, data: bytes) -> bytes:
        return (http2_peer.frame(http2_peer.HEADERS, http2_peer.END_HEADERS, 1, http2_peer.headers(method)) +
                http2_peer.frame(http2_peer.DATA, http2_peer.END_STREAM, 1, data))

    def test_garbage_on_the_port_ends_its_connection_alone(self):
        seed = int(os.environ.get("MESHWRIGHT_FAULT_SEED") or random.SystemRandom().randrange(1 << 32))
        print(f"MESHWRIGHT_FAULT_SEED={seed}", flush=True)
        draw = random.Random(seed)
        begin = http2_peer.PREFACE + http2_peer.frame(http2_peer.SETTINGS, 0, 0)
        garbage = [draw.randbytes(draw.randrange(1, 4096)) for _ in range(100)]
        garbage += [begin + draw.randbytes(draw.randrange(1, 4096)) for _ in range(100)]
        garbage += [http2_peer.PREFACE[:i] for i in range(len(http2_peer.PREFACE))]
        garbage += [begin + self.call_of(method, data) for method in (WATCH, CONNECT, "/nothing", "")
                    for data in (b"", b"\0\xff\xff\xff\xff", http2_peer.message(draw.randbytes(100)))]
        garbage += [b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\0" * 100_000]
        for data in garbage:
            connection = self.connect()
            try:
                connection.sendall(data)
            except OSError:
                pass  # the server had enough
        self.check_serves()
        self.stop_everything()

    def test_tls_on_the_plain_port_is_refused_and_others_are_served(self):
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        for _ in range(10):
            with self.assertRaises(OSError):
                context.wrap_socket(self.connect(), server_hostname="localhost")
        self.check_serves()
        self.stop_everything()

    def test_idle_connections_hold_up_nobody(self):
        idle = [self.connect() for _ in range(200)]
        self.check_serves()
        self.assertEqual(len(idle), 200)
        self.stop_everything()


if __name__ == "__main__":
    faults.main()
