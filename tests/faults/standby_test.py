#!/usr/bin/env python3
"""A standby takes over from a first server that is killed at a random moment of running sweeps, again and again.

Every time: what the standby had of the results is there to the end, each acknowledged result that it lacked is named,
every sweep ends with the results that it has to have, and the first server that comes back is refused by its epoch and
then follows. Before a kill, the network between the two is cut for a random time, so that the standby lacks something.

The nightly test takes over 50 times. MESHWRIGHT_FAULT_SEED repeats a run's choices, MESHWRIGHT_FAULT_KILLS makes it
another number of takeovers.

Usage: standby_test.py FOLDER_OF_BINARIES [unittest's arguments]
"""
import dataclasses
import os
import pathlib
import random
import sqlite3
import time

import faults
from tcp_proxy import Network, TcpProxy


@dataclasses.dataclass
class Place:
    """Where one of the two servers runs."""

    database: pathlib.Path
    address: str = "127.0.0.1:0"
    proxy: TcpProxy | None = None  # through which the other one reaches it
    process: faults.Process | None = None


class StandbyTest(faults.FaultTest):
    LEASE_S = 10.0
    SERVE = ("--max-agent-failures", "1000000")
    TAKEOVERS = 50 if faults.NIGHTLY else 4
    AGENTS = 4
    TRIALS = 25
    STEPS = 5
    STEP_S = "0.1 to 0.3"

    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get("MESHWRIGHT_FAULT_SEED") or random.SystemRandom().randrange(1 << 32))
        self.takeovers = int(os.environ.get("MESHWRIGHT_FAULT_KILLS") or self.TAKEOVERS)
        print(f"MESHWRIGHT_FAULT_SEED={self.seed}", flush=True)
        self.random = random.Random(self.seed)
        self.watches: list[faults.Watch] = []
        self.had: dict[str, int] = {}  # attempts that gave trials their results, as standbys had them
        self.named: set[faults.Attempt] = set()
        self.first, self.second = (Place(self.folder / name) for name in ("one.db", "two.db"))

    # The two servers.

    def serve_at(self, place: Place, *more: str) -> None:
        server = self.start(faults.BIN / "meshwright", "serve", "--db", place.database, "--listen", place.address,
                            "--lease-s", f"{self.LEASE_S:g}", *self.SERVE, *more)
        faults.await_true("the server listens", lambda: server.out or not server.running())
        if not server.out:
            server.wait()
            raise AssertionError(server.tail())
        place.address = server.out[0].removeprefix("listening on ").split()[0]
        place.process = server
        self.servers.append(server)
        if place.proxy is None:
            place.proxy = TcpProxy(place.address)
            self.addCleanup(place.proxy.close)

    def start_both(self) -> None:
        self.serve_at(self.first)
        self.serve_at(self.second, "--standby-of", self.first.proxy.address)
        self.address = f"{self.first.address},{self.second.address}"
        self.await_standby()

    def standing(self, place: Place) -> dict:
        self.address, both = place.address, self.address
        try:
            return self.ask("standby", "show")
        finally:
            self.address = both

    def await_standby(self) -> None:
        """It lacks nothing."""
        def has_all() -> bool:
            lag = self.standing(self.second)["lag"]
            return lag["connected"] and lag["complete"] and lag["transactions"] == 0
        faults.await_true("the standby has everything", has_all)

    def results_at(self, place: Place) -> dict[str, int]:
        with sqlite3.connect(f"file:{place.database}?mode=ro", uri=True) as database:
            rows = database.execute("SELECT s.name, t.number, t.attempt FROM trials AS t JOIN sweeps AS s ON s.id = t.sweep_id "
                                    "JOIN measurements AS m ON m.sweep_id = t.sweep_id AND m.trial = t.number").fetchall()
        database.close()
        return {f"sweeps/{sweep}/trials/{number}": attempt for sweep, number, attempt in rows}

    def take_over(self, cut: Network = Network.SILENT) -> None:
        """The first one is killed, some time after the network was cut, and the second one takes over; then they change
        their names."""
        epoch = self.standing(self.first)["epoch"]
        self.first.proxy.network = cut
        time.sleep(self.random.uniform(0.0, 1.0))
        self.first.process.kill()
        self.first.proxy.network = Network.RESET
        self.second.process.await_line("lost the first server|can't follow")
        time.sleep(self.random.uniform(0.0, 1.0))
        self.had.update(self.results_at(self.second))
        done = self.run_cli("standby", "take-over", "--server", self.second.address)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"took over as epoch {epoch + 1}", done.stdout)
        self.first.proxy.network = Network.WHOLE
        self.first, self.second = self.second, self.first

    def check_comes_back_refused(self) -> None:
        """As a server by itself the former first one ends, and says why; as a standby it follows."""
        self.serve_at(self.second)
        self.assertNotEqual(self.second.process.wait(30.0), 0)
        self.assertIsNotNone(self.second.process.says(f"a standby took over, the server at {self.first.address}"),
                             self.second.process.tail())
        self.serve_at(self.second, "--standby-of", self.first.proxy.address)
        self.await_standby()

    # What they are for.

    def keep_busy(self) -> None:
        to_come = sum(self.TRIALS - len(watch.of_kind("trial_ended")) for watch in self.watches if not watch.ended())
        if to_come > 2 * self.AGENTS:
            return
        name = f"s{len(self.watches) + 1}"
        self.start_sweep(name, trials=self.TRIALS, steps=self.STEPS, seed=len(self.watches))
        self.watches.append(self.watch(name))
        self.await_standby()

    def check_results(self) -> None:
        """Of the acknowledged results, the store has all that a standby had, and the others were named."""
        results = self.results_at(self.first)
        for trial, attempt in self.had.items():
            self.assertEqual(results.get(trial), attempt, trial)
        named = {result for server in self.servers
                 for result in faults.attempts_in(server.err, "acknowledged a result .* that this store lacks")}
        acknowledged = {result for agent in self.agents for result in agent.acknowledged()}
        for result in acknowledged - named:
            self.assertEqual(results.get(result.trial), result.attempt, f"{result} was acknowledged")
        self.named = named
        kept = [result for result in named if results.get(result.trial) == result.attempt]
        print(f"{self.takeovers} kills ({{'first server': {self.takeovers}}}) and takeovers during {len(self.watches)} sweeps: "
              f"{len(acknowledged)} results were acknowledged, standbys lacked {len(named)} of them, {len(kept)} of which agents "
              "delivered again", flush=True)

    def start_all(self) -> None:
        self.start_both()
        for i in range(self.AGENTS):
            self.agent(f"agent-{i}", server=self.address)

    def check_and_stop(self) -> None:
        for watch in self.watches:
            watch.await_end(300.0)
        for watch in self.watches:
            self.check_measured(watch.sweep)
        self.check_results()
        self.database = self.second.database
        self.stop_everything()
        self.database = self.first.database
        self.check_database()

    def test_takeovers_lose_and_double_nothing(self):
        self.start_all()
        for _ in range(self.takeovers):
            self.keep_busy()
            time.sleep(self.random.uniform(0.0, 2.0))
            self.take_over()
            self.check_comes_back_refused()
        self.check_and_stop()

    def test_a_server_that_waits_for_its_standby_acknowledges_nothing_that_the_standby_lacks(self):
        self.SERVE = (*self.SERVE, "--standby-wait-s", "10")
        self.takeovers = min(self.takeovers, 3)
        self.start_all()
        for _ in range(self.takeovers):
            self.keep_busy()
            time.sleep(self.random.uniform(0.0, 2.0))
            self.take_over(cut=Network.WHOLE)
            self.serve_at(self.second, "--standby-of", self.first.proxy.address)
            self.await_standby()
        self.check_and_stop()
        self.assertEqual(self.named, set())

    def test_a_standby_that_has_no_copy_and_a_server_that_decides_take_over_nothing(self):
        self.serve_at(self.first)
        self.address = self.first.address
        refused = self.run_cli("standby", "take-over", "--server", self.address)
        self.assertIn("is no standby", refused.stderr)
        self.first.process.kill()
        self.serve_at(self.second, "--standby-of", self.first.proxy.address)
        refused = self.run_cli("standby", "take-over", "--server", self.second.address)
        self.assertIn("never complete", refused.stderr)
        self.assertNotEqual(refused.returncode, 0)
        asked = self.run_cli("sweep", "list", "--server", self.second.address)
        self.assertIn(f"call the first server, {self.first.proxy.address}", asked.stderr)


if __name__ == "__main__":
    faults.main()
