#!/usr/bin/env python3
"""kill -9 of the server, of agents and of workers at random moments of sweeps, and cuts of an agent's network, silent ones
and resets, for less than a lease and for more: no result that was acknowledged is lost, none counts twice, and the best
trial is the one that it would have been.

StandInTest does so 20 times, with a worker whose result is a function of the layout; RealWorkerTest 3 times, with the
real one: once each the server, an agent and a worker; the Gang tests do the same to trials that two agents run
together. The nightly tests do it 332 times in all. MESHWRIGHT_FAULT_SEED repeats a run's choices,
MESHWRIGHT_FAULT_KILLS makes it another number of kills.

A trial has three attempts that may be lost or broken, so of what costs one (the end of an agent that runs it, of a worker,
or a cut) no trial gets more than one on purpose; a server's end costs none and comes at any time.

Usage: kill_test.py FOLDER_OF_BINARIES [unittest's arguments]
"""
import collections
import os
import random
import signal
import threading
import time

import faults
from tcp_proxy import Network, TcpProxy


class KillTest(faults.FaultTest):
    SERVE = ("--max-agent-failures", "1000000")
    KILLS: int
    AGENTS: int
    TRIALS: int  # of a sweep
    STEPS: int
    MOST_PAUSE_S: float  # between two kills
    DEVICES = 2  # of an agent; a trial has two ranks
    KINDS: tuple[str, ...] = ("server", "agent", "worker", "network")

    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get("MESHWRIGHT_FAULT_SEED") or random.SystemRandom().randrange(1 << 32))
        self.kills_wanted = int(os.environ.get("MESHWRIGHT_FAULT_KILLS") or self.KILLS)
        print(f"MESHWRIGHT_FAULT_SEED={self.seed}", flush=True)
        self.random = random.Random(self.seed)
        self.kills: collections.Counter[str] = collections.Counter()
        self.charged: collections.Counter[str] = collections.Counter()  # by trial
        self.watches: list[faults.Watch] = []
        self.alive: dict[str, faults.Agent] = {}
        self.networks: dict[str, TcpProxy] = {}  # by the name of the agent behind it

    def run_sweeps_and_kill(self) -> None:
        self.serve()
        for i in range(self.AGENTS):
            self.start_agent(f"agent-{i}")
        began = time.monotonic()
        for kind in self.kinds_to_kill():
            self.kill_one(kind)
        for watch in self.watches:
            watch.await_end(300.0)
        print(f"{self.kills.total()} kills ({dict(self.kills)}) during {len(self.watches)} sweeps of {self.TRIALS} "
              f"trials in {time.monotonic() - began:.0f} s", flush=True)

    def start_agent(self, name: str) -> None:
        if name not in self.networks:
            self.networks[name] = TcpProxy(self.address)
            self.addCleanup(self.networks[name].close)
        self.alive[name] = self.agent(name, devices=self.DEVICES, server=self.networks[name].address)

    def trials_to_come(self) -> int:
        return sum(self.TRIALS - len(watch.of_kind("trial_ended")) for watch in self.watches)

    def keep_busy(self) -> None:
        if self.trials_to_come() > 2 * self.AGENTS:
            return
        name = f"s{len(self.watches) + 1}"
        self.start_sweep(name, trials=self.TRIALS, steps=self.STEPS, seed=len(self.watches))
        self.watches.append(self.watch(name))

    # What costs the trial that runs an attempt.

    def running_trial(self, agent: faults.Agent) -> str | None:
        given = agent.given()
        return given[-1].trial if given and given[-1] not in agent.acknowledged() else None

    def may_lose(self, agent: faults.Agent) -> bool:
        trial = self.running_trial(agent)
        return trial is None or self.charged[trial] == 0

    def charge(self, agent: faults.Agent) -> None:
        trial = self.running_trial(agent)
        if trial is not None:
            self.charged[trial] += 1

    # The kills.

    def kinds_to_kill(self) -> list[str]:
        kinds = [self.KINDS[i % len(self.KINDS)] for i in range(self.kills_wanted)]
        self.random.shuffle(kinds)
        return kinds

    def kill_one(self, kind: str) -> None:
        """As soon as there is one that may be killed, after a random time."""
        kill = {"server": self.kill_server, "agent": self.kill_agent, "worker": self.kill_worker, "network": self.cut_network}[kind]
        end = time.monotonic() + faults.DEADLINE_S
        while True:
            self.keep_busy()
            time.sleep(self.random.uniform(0.0, self.MOST_PAUSE_S))
            if kill():
                break
            self.assertLess(time.monotonic(), end, f"there was no {kind} to kill")
        self.kills[kind] += 1

    def kill_server(self) -> bool:
        self.servers[-1].kill()
        time.sleep(self.random.uniform(0.0, 1.0))
        self.serve()
        return True

    def kill_agent(self) -> bool:
        victims = [agent for agent in self.alive.values() if self.may_lose(agent)]
        if not victims:
            return False
        victim = self.random.choice(victims)
        self.charge(victim)
        victim.kill()
        self.charge(victim)  # what it was given in the meantime
        self.start_agent(victim.name)
        return True

    def kill_worker(self) -> bool:
        agents = [agent for agent in self.alive.values() if self.may_lose(agent)]
        victims = [(agent, worker) for agent in agents for worker in agent.workers()]
        if not victims:
            return False
        agent, worker = self.random.choice(victims)
        self.charge(agent)
        try:
            os.kill(worker, signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True

    def cut_network(self) -> bool:
        victims = [agent for agent in self.alive.values()
                   if self.may_lose(agent) and self.networks[agent.name].network is Network.WHOLE]
        if not victims:
            return False
        victim = self.random.choice(victims)
        self.charge(victim)
        network = self.networks[victim.name]
        network.network = self.random.choice((Network.SILENT, Network.RESET))

        def heal() -> None:
            network.network = Network.WHOLE
        timer = threading.Timer(self.random.uniform(0.0, 1.3 * self.LEASE_S), heal)
        timer.daemon = True
        timer.start()
        return True

    # What has to hold.

    def check_watched(self, watch: faults.Watch) -> None:
        """What was told as it happened is what the store has in the end, and was told once."""
        told = [event for event in watch.events() if event["sequence"] > 0]
        sequences = [event["sequence"] for event in told]
        self.assertEqual(sequences, sorted(set(sequences)))
        again = self.watch(watch.sweep)
        again.await_end()
        self.assertEqual(told, [event for event in again.events() if event["sequence"] <= sequences[-1]])

    def check_and_stop(self) -> None:
        for watch in self.watches:
            self.check_watched(watch)
        print(f"{self.check_acknowledged()} acknowledged results are there", flush=True)
        self.stop_everything()

    def stop_everything(self) -> None:
        for agent in self.alive.values():
            agent.await_line("connected to")
        super().stop_everything()


class StandInTest(KillTest):
    KILLS = 200 if faults.NIGHTLY else 20
    AGENTS = 6
    TRIALS = 25
    STEPS = 5
    STEP_S = "0.1 to 0.3"
    MOST_PAUSE_S = 0.7

    def test_kills_lose_and_double_nothing(self):
        self.run_sweeps_and_kill()
        for watch in self.watches:
            self.check_measured(watch.sweep)
        self.check_and_stop()


class StandInGangTest(StandInTest):
    """Each trial runs on two agents."""

    KILLS = 100 if faults.NIGHTLY else 20
    DEVICES = 1


class RealWorkerTest(KillTest):
    KINDS = ("server", "agent", "worker")
    KILLS = 20 if faults.NIGHTLY else 3
    AGENTS = 3
    TRIALS = 6
    STEPS = 4
    MOST_PAUSE_S = 2.0

    def test_kills_lose_and_double_nothing(self):
        self.use_real_worker()
        self.run_sweeps_and_kill()
        for watch in self.watches:
            self.check_trained(watch.sweep)
        self.check_and_stop()

    def check_trained(self, sweep: str) -> None:
        """Times differ from run to run; the loss of the first step is the seed's, whatever the layout."""
        trials = self.show(sweep)["trials"]
        for trial in trials:
            self.assertEqual(trial["state"], "ok", trial["reason"])
            self.assertEqual(len(trial["measured"]["losses"]), self.STEPS)
            self.assertEqual(len(trial["measured"]["ranks"]), 2)
            self.assertAlmostEqual(trial["measured"]["losses"][0], trials[0]["measured"]["losses"][0], delta=1e-3)
        self.check_events(sweep, len(trials))


class RealWorkerGangTest(RealWorkerTest):
    """Each trial runs on two agents."""

    KILLS = 12 if faults.NIGHTLY else 3
    AGENTS = 4
    DEVICES = 1


if __name__ == "__main__":
    faults.main()
