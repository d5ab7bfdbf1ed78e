#!/usr/bin/env python3
"""Agents that `meshwright agents up` and `meshwright serve` keep with --launcher kubernetes, against an API server of
this test (kubernetes_api.py), whose pods run as processes of this machine: that a sweep takes nodes from none and gives
all back, that what is lost is made good, and what is said where the cluster refuses, forgets or does not answer.

Usage: kubernetes_test.py FOLDER_OF_BINARIES [unittest's arguments]
"""
import collections
import os
import random
import signal
import time

import faults
import kubernetes_api
import kubernetes_rules
from kubernetes_scheduler import Node


class KubernetesTestCase(faults.FaultTest):
    IDLE_S = 3.0
    NAMES = ("meshwright-agent-1", "meshwright-agent-2")

    def setUp(self):
        super().setUp()
        self.api = self.make_api()
        self.addCleanup(self.api.close)

    def make_api(self, **more) -> kubernetes_api.KubernetesApi:
        return kubernetes_api.KubernetesApi(
            self.folder, path=f"{faults.BIN}:/usr/bin:/bin",
            environment={"STAND_IN_STEP_S": self.STEP_S, "XDG_STATE_HOME": str(self.folder / "state")}, **more)

    def flags(self, *more, image: str = "meshwright:1", name_space: str = "training") -> tuple:
        return ("--launcher", "kubernetes", *self.api.flags(), "--namespace", name_space, "--image", image, "--devices", "cpu:1",
                "--memory", "1Gi", "--poll-s", "0.5", *more, "--", "--worker", self.worker, "--no-benchmark", "--log-level",
                "debug")

    def up(self, *more, nodes: int = 2, agent_flags: tuple = (), **flags) -> faults.Process:
        return self.start(faults.BIN / "meshwright", "agents", "up", "--nodes", nodes, "--server", self.address,
                          *self.flags(*more, **flags), *agent_flags, cwd=self.folder)

    def scale(self, *more) -> faults.Process:
        return self.serve("--max-nodes", "2", "--idle-s", f"{self.IDLE_S:g}", "--agent-server", "127.0.0.1:0",
                          *self.flags(*more), cwd=self.folder)

    def connected(self) -> list[str]:
        return sorted(agent["name"] for agent in self.connected_agents())

    def running(self) -> list[dict]:
        return self.api.pods(phase="Running")

    def await_agents(self, count: int) -> None:
        faults.await_true(f"{count} pods run", lambda: len(self.running()) == count)
        faults.await_true(f"{count} agents are connected", lambda: len(self.connected()) == count)

    def await_none(self) -> None:
        self.await_agents(0)
        faults.await_true("no job is left", lambda: all(self.ended(each) for each in self.api.job_sets()))
        self.assertEqual(self.api.pids(), [])

    @staticmethod
    def ended(job_set: dict) -> bool:
        return bool(job_set.get("status", {}).get("terminalState"))

    def run_sweep(self, name: str, trials: int = 2, ranks: int = 1, steps: int = 5) -> None:
        self.start_sweep(name, trials=trials, ranks=ranks, steps=steps)
        self.watch(name).await_end()
        self.check_measured(name)

    def finish(self, launcher: faults.Process) -> None:
        launcher.signal(signal.SIGTERM)
        self.assertEqual(launcher.wait(60.0), 0, launcher.tail())
        self.assertEqual(self.api.pids(), [])
        self.assertEqual([each for each in self.api.job_sets() if not self.ended(each)], [])
        self.stop_everything()


class ServeKubernetesTest(KubernetesTestCase):
    def test_a_sweep_takes_nodes_from_none_and_gives_all_back(self):
        server = self.scale()
        self.assertEqual(self.api.job_sets(), [])
        self.run_sweep("pair", ranks=2)
        self.await_none()
        server.await_line("is let go: no trial needs it")
        self.assertFalse(server.says("submits another"), "a job that was let go is no failure")
        self.assertEqual(self.api.job_sets(), [], "a job that was let go is deleted")
        self.run_sweep("again")
        self.await_none()
        # It watches: the lists are those of the beginning.
        self.assertLessEqual(self.api.count("list"), 2, self.api.requests)
        self.stop_everything()

    def test_a_node_that_is_lost_in_the_middle_is_made_good(self):
        self.scale()
        self.start_sweep("s", trials=1, ranks=2, steps=300)
        sweep = self.watch("s")
        sweep.await_kind("trial_progress", attempt=1)
        lost = self.running()[1]
        self.api.lose_node(lost["spec"]["nodeName"])
        self.api.add_node(Node("n3"))
        sweep.await_end()
        self.assertEqual(self.check_measured("s")["trials"][0]["attempt"], 2)
        self.await_none()
        self.stop_everything()

    def test_a_pod_that_is_evicted_in_the_middle_is_made_good(self):
        server = self.scale()
        self.start_sweep("s", trials=1, ranks=2, steps=300)
        sweep = self.watch("s")
        sweep.await_kind("trial_progress", attempt=1)
        self.api.lose_pod(self.running()[0])
        server.await_line(r"job meshwright-agent-\d-\w+ ended as")
        sweep.await_end()
        self.check_measured("s")
        self.await_none()
        self.stop_everything()

    def test_a_job_of_two_nodes_comes_and_goes_as_one(self):
        server = self.scale("--nodes-per-job", "2", "--topology-key", "kubernetes.io/os")
        for node in self.api.nodes.values():
            node.labels["kubernetes.io/os"] = "linux"
        self.start_sweep("s", trials=2, ranks=2, steps=200)
        sweep = self.watch("s")
        sweep.await_kind("trial_progress", attempt=1)
        [job_set] = self.api.job_sets()
        self.assertEqual(len(self.api.pods(job_set["metadata"]["name"])), 2)
        self.api.delete_job_set(job_set["metadata"]["name"])
        faults.await_true("another job runs", lambda: self.connected() == list(self.NAMES) and [
            each["metadata"]["name"] for each in self.api.job_sets()] != [job_set["metadata"]["name"]])
        sweep.await_end()
        self.check_measured("s")
        self.await_none()
        for name in self.NAMES:
            self.assertTrue(server.says(f"{name}: is let go"), name)
        self.stop_everything()

    def test_a_server_that_was_killed_finds_its_jobs_again(self):
        self.scale("--min-nodes", "1")
        self.await_agents(1)
        before = [each["metadata"]["name"] for each in self.api.job_sets()]
        self.servers.pop().kill()
        server = self.scale("--min-nodes", "1")
        server.await_line(f"job {before[0]} runs")
        self.run_sweep("one", trials=1)
        self.assertEqual([each["metadata"]["name"] for each in self.api.job_sets()], before)
        # Another server leaves them alone.
        other = self.start(faults.BIN / "meshwright", "serve", "--db", self.folder / "other.db", "--listen", "127.0.0.1:0",
                           "--max-nodes", "1", "--agent-server", "127.0.0.1:0", *self.flags(), cwd=self.folder)
        self.assertNotEqual(other.wait(), 0, other.tail())
        self.assertRegex(other.tail(), rf"job {before[0]} in the queue is called .* already.*kubectl delete jobset")
        self.finish(server)

    def test_kueue_admits_what_it_has_nodes_for(self):
        server = self.scale("--kueue-queue", "tuning")
        self.start_sweep("s", trials=1, ranks=1)
        sweep = self.watch("s")
        server.await_line(r"job meshwright-agent-1-\w+ waits")
        [job_set] = self.api.job_sets()
        self.assertEqual(job_set["metadata"]["labels"]["kueue.x-k8s.io/queue-name"], "tuning")
        self.assertEqual(self.api.pods(), [])
        self.api.admit(job_set["metadata"]["name"])
        sweep.await_end()
        self.check_measured("s")
        self.await_none()
        self.stop_everything()


class KillsTest(KubernetesTestCase):
    """Pods, nodes, JobSets, watches and the server are lost in random moments. MESHWRIGHT_FAULT_SEED repeats a run."""

    KILLS = int(os.environ.get("MESHWRIGHT_FAULT_KILLS") or (40 if faults.NIGHTLY else 8))
    STEP_S = "0.1 to 0.3"
    SERVE = ("--max-agent-failures", "1000000")

    def test_sweeps_end_whatever_is_lost(self):
        seed = int(os.environ.get("MESHWRIGHT_FAULT_SEED") or random.SystemRandom().randrange(1 << 32))
        print(f"MESHWRIGHT_FAULT_SEED={seed}", flush=True)
        self.random = random.Random(seed)
        self.nodes = 2
        self.scale()
        ways = [self.lose_pod, self.lose_node, self.delete_job, self.kill_server]
        kills = collections.Counter()
        sweeps: list[faults.Watch] = []
        for number in range(self.KILLS):
            way = ways[number % len(ways)]
            name = f"s{number}"
            # A trial survives two lost attempts, so each has a sweep of its own.
            self.start_sweep(name, trials=2, ranks=1, steps=self.random.choice((5, 20, 60)), seed=number)
            sweeps.append(self.watch(name))
            faults.await_true("a pod runs", self.running)
            time.sleep(self.random.uniform(0.0, 4.0))
            self.random.choice((self.api.cut_watches, self.api.compact, lambda: None))()
            kills[way.__name__] += way()
            sweeps[-1].await_end()
        for watch in sweeps:
            self.check_measured(watch.sweep)
        kills = collections.Counter({kind.split("_")[1]: count for kind, count in kills.items()})
        print(f"{kills.total()} kills ({dict(kills)}) during {len(sweeps)} sweeps", flush=True)
        self.assertGreater(kills.total(), self.KILLS / 2)
        self.await_none()
        self.stop_everything()

    def lose_pod(self) -> int:
        running = self.running()
        if running:
            self.api.lose_pod(self.random.choice(running), grace_s=self.random.choice((0.0, None)))
        return bool(running)

    def lose_node(self) -> int:
        running = self.running()
        if running:
            self.api.lose_node(self.random.choice(running)["spec"]["nodeName"])
            self.nodes += 1
            self.api.add_node(Node(f"n{self.nodes}"))
        return bool(running)

    def delete_job(self) -> int:
        names = [each["metadata"]["name"] for each in self.api.job_sets() if not self.ended(each)]
        if names:
            self.api.delete_job_set(self.random.choice(names), self.random.choice(("Background", "Foreground")))
        return bool(names)

    def kill_server(self) -> int:
        self.servers.pop().kill()
        time.sleep(self.random.uniform(0.0, 1.0))
        self.scale()
        return 1


class FaultsTest(KubernetesTestCase):
    def await_both(self, launcher: faults.Process) -> None:
        for name in self.NAMES:
            launcher.await_line(rf"{name}: job {name}-\w+ runs on n\d")
        self.await_agents(2)

    def test_watches_that_are_cut_expire_or_come_in_pieces_lose_nothing(self):
        self.serve()
        self.api.chunk_bytes = 100
        launcher = self.up()
        self.await_both(launcher)
        self.api.expires_by_event = True  # as the real API server does
        # In turn, since a job that ends within a minute is followed by a pause, which doubles.
        for fault, agent in ((self.api.cut_watches, 0), (self.api.compact, 1), (self.cut_a_line, 0)):
            lists = self.api.count("list") + self.api.count("list", "pods")
            fault()
            lost = self.pod_of(self.NAMES[agent])
            self.api.lose_pod(lost, grace_s=0.0)
            faults.await_true(f"the pod is replaced after {fault.__name__}", lambda: len(self.running()) == 2 and lost[
                "metadata"]["name"] not in [pod["metadata"]["name"] for pod in self.running()])  # pylint: disable=cell-var-from-loop
            self.await_agents(2)
            faults.await_true(f"it lists again after {fault.__name__}", lambda: self.api.count("list") + self.api.count(
                "list", "pods") > lists)  # pylint: disable=cell-var-from-loop
        self.assertFalse(launcher.says("gives up"))
        self.finish(launcher)

    def pod_of(self, agent: str) -> dict:
        return next(pod for pod in self.running() if pod["metadata"]["labels"]["meshwright-job"] == agent)

    def cut_a_line(self) -> None:
        self.api.truncate_lines = 1

    def test_nothing_is_submitted_or_cancelled_while_the_api_does_not_answer(self):
        self.serve()
        launcher = self.up()
        self.await_both(launcher)
        before = sorted(each["metadata"]["name"] for each in self.api.job_sets())
        self.api.refuse()
        launcher.await_line("Kubernetes does not report the states of the jobs: .*does not answer")
        self.assertEqual(len(self.connected()), 2, "agents do not need the API")
        self.api.accept()
        launcher.await_line("Kubernetes answers again")
        self.assertEqual(sorted(each["metadata"]["name"] for each in self.api.job_sets()), before)
        self.finish(launcher)

    def test_a_quota_a_busy_server_and_a_token_that_was_renewed_are_waited_for(self):
        self.serve()
        launcher = self.up()
        self.await_both(launcher)
        self.api.rotate_token()
        for agent, code in zip(self.NAMES, (403, 503)):
            self.api.fail_applies(1, code)
            self.api.lose_pod(self.pod_of(agent), grace_s=0.0)
            launcher.await_line(rf"answers the apply of jobsets/\S+ with {code}")
            faults.await_true("both agents are back", lambda: len(self.running()) == 2)
        self.await_agents(2)
        self.finish(launcher)

    def check_refused(self, sentence: str, **flags) -> None:
        launcher = self.up(**flags)
        self.assertNotEqual(launcher.wait(), 0, sentence)
        self.assertRegex(launcher.tail(), sentence)

    def test_what_the_cluster_refuses_is_said_at_once(self):
        self.serve()
        for right, sentence in ((("jobsets", "create"), r"with 403: .*forbidden"), (("pods", "list"), r"the list of pods with 403")):
            self.api.allowed.discard(right)
            self.check_refused(sentence)
            self.api.allowed.add(right)
        self.api.has_job_sets = False
        self.check_refused("controller of JobSets .* is missing")
        self.api.has_job_sets = True
        self.api.token_file.write_text("stale")
        self.check_refused("with 401")
        self.api.rotate_token()
        self.check_refused("elsewhere", name_space="elsewhere")
        self.assertEqual(self.api.job_sets(), [])
        self.stop_everything()

    def test_pods_that_can_not_start_are_named_and_agents_that_fail_are_given_up(self):
        self.serve()
        self.api.missing_images.add("no:1")
        launcher = self.up(image="no:1", nodes=1)
        launcher.await_line("job .* waits.*(ErrImagePull|ImagePullBackOff)")
        self.finish_launcher(launcher)
        launcher = self.up("--cpu", "4000", nodes=1)
        launcher.await_line("job .* waits.*Insufficient cpu")
        self.finish_launcher(launcher)
        failing = self.up(nodes=1, agent_flags=("--no-such-flag",))
        failing.await_line("ended as Failed .*exit code 2")
        self.finish_launcher(failing)
        self.stop_everything()

    def finish_launcher(self, launcher: faults.Process) -> None:
        launcher.signal(signal.SIGTERM)
        self.assertEqual(launcher.wait(60.0), 0, launcher.tail())
        self.assertEqual(self.api.pids(), [])


if __name__ == "__main__":
    kubernetes_rules.use_schemas()
    faults.main()
