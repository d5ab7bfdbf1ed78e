#!/usr/bin/env python3
"""Sweeps whose trials are commands of a framework: what ends a command is told apart, and whatever is killed (the server,
the agent, a process of the guard, the launcher, a rank), no finished measurement is lost and no process remains.

The framework is a stand-in without Torch, whose ranks are in sessions of their own as torchrun's are.

Usage: command_trial_test.py FOLDER_OF_BINARIES [unittest's arguments]
"""
import json
import os
import pathlib
import shutil
import signal
import sys

import command_kills
import faults
import stand_in_worker


class CommandTrialTest(command_kills.CommandKills):
    def setUp(self):
        super().setUp()
        # Copies of this test's own, so that its processes can be told from another's.
        for name in ("stand_in_framework.py", "stand_in_worker.py"):
            shutil.copy(faults.HERE / name, self.folder / name)
        self.framework = self.folder / "stand_in_framework.py"
        self.runner = self.folder / "stand-in.json"
        self.write_runner()

    def write_runner(self, **changes) -> None:
        runner = {"name": "stand-in", "framework": "deepspeed", "where": "tp = 1 and cp = 1",
                  "argv": [sys.executable, str(self.framework), "launch", "{folder}", "{ranks}", "{behaviour}"],
                  "fields": {"behaviour": {"words": ["train", "hang", "oom", "early", "contradict"]}}, "log": "json"}
        self.runner.write_text(json.dumps({**runner, **changes}))
        self.runner.chmod(0o600)

    def runner_agent(self, name: str) -> faults.Agent:
        return self.connected_agent(name, "--runner", f"stand-in={self.runner}")

    def start_runner_sweep(self, name: str, *more, trials: int, behaviour: str = "train", steps: int = 8) -> list[str]:
        return self.start_sweep(name, "--runner", "stand-in", "--field", f"behaviour={behaviour}", *more, trials=trials,
                                steps=steps)

    # The processes of a command, by what they are.

    def of_framework(self, word: str) -> list[int]:
        pids = [int(entry.name) for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit()]
        return [pid for pid in pids if faults.state_of(pid) not in ("Z", "")
                and faults.command_of(pid)[1:3] == [str(self.framework), word]]

    def launchers(self) -> list[int]:
        return self.of_framework("launch")

    def ranks(self) -> list[int]:
        return self.of_framework("rank")

    def ours(self) -> list[int]:
        pids = [int(entry.name) for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit()]
        return [pid for pid in pids if faults.state_of(pid) not in ("Z", "")
                and (str(self.framework) in faults.command_of(pid))]

    def check_ranked(self, sweep: str, trials: int) -> None:
        """Every trial has what its layout takes, and they are ranked by it."""
        shown = self.show(sweep)
        self.assertEqual(shown["sweep"]["state"], "finished")
        self.assertEqual(len(shown["trials"]), trials)
        for trial in shown["trials"]:
            self.assertEqual(trial["state"], "ok", f"{trial['trial']}: {trial['reason']}")
            self.assertEqual(trial["measured"]["step_s"], stand_in_worker.step_s_of(trial["layout"]))
        ranked = [trial["layout"] for trial in sorted(shown["trials"], key=lambda trial: trial["rank"])]
        self.assertEqual(ranked, sorted(ranked, key=stand_in_worker.step_s_of))

    def finish(self, sweep: str, trials: int) -> None:
        self.watch(sweep).await_end()
        super().finish(sweep, trials)

    def test_a_sweep_ranks_what_the_commands_measured(self):
        self.serve()
        self.runner_agent("a")
        self.start_runner_sweep("s", trials=6)
        self.finish("s", 6)

    def test_results_of_another_file_or_field_are_not_reused(self):
        self.serve()
        agent = self.runner_agent("a")
        self.start_runner_sweep("first", trials=1)
        self.watch("first").await_end()

        def reused(name: str, behaviour: str = "train") -> int:
            # Without --fresh, which start_sweep() has.
            answer = self.ask("sweep", "start", "--name", name, "--model", "tinystories-15m", "--cluster", "local-cpu", "--gpus",
                              2, "--seq-len", 64, "--global-batch", 8, "--trials", 1, "--candidates", 1, "--min-gain", 0,
                              "--steps", 8, "--seed", 0, "--runner", "stand-in", "--field", f"behaviour={behaviour}")
            self.watch(name).await_end()
            return answer["trials_reused"]

        self.assertEqual(reused("same"), 1)
        self.assertEqual(reused("other-field", behaviour="early"), 0)
        agent.signal(signal.SIGTERM)
        agent.wait()
        self.write_runner(warm_up_steps=2)
        self.runner_agent("b")
        self.assertEqual(reused("other-file"), 0)
        self.stop_everything()

    def test_memory_a_hang_and_an_early_end_are_told_apart(self):
        self.serve()
        agent = self.runner_agent("a")
        for behaviour, state, reason in (("oom", "oom", "ran out of memory"), ("early", "failed", "ended with exit code 0"),
                                         ("contradict", "failed", "the framework ran dp = 1, but the layout has dp = 2")):
            self.start_runner_sweep(behaviour, trials=1, behaviour=behaviour)
            self.watch(behaviour).await_end()
            trial = self.trial(behaviour)
            self.assertEqual(trial["state"], state, trial)
            self.assertIn(reason, trial["reason"])
        self.assertTrue(agent.running())
        self.stop_everything()

    def test_a_command_that_hangs_is_ended_by_a_cancel(self):
        self.serve()
        self.runner_agent("a")
        self.start_runner_sweep("s", trials=1, behaviour="hang")
        faults.await_true("ranks run", lambda: len(self.of_framework("rank")) == 2)
        self.ask("sweep", "cancel", "s")
        faults.await_true("nothing of it remains", lambda: not self.ours())
        self.stop_everything()

    def test_whatever_is_killed_nothing_is_lost_and_nothing_remains(self):
        self.serve()
        # A trial whose command was killed goes to another agent.
        for name in ("a", "b"):
            self.runner_agent(name)
        trials = 20
        self.start_runner_sweep("s", trials=trials, steps=20)
        for whom in ("outer guard", "inner guard", "launcher", "rank", "server", "agent"):
            self.kill_while_it_runs("s", whom)
        self.finish("s", trials)

    def delegated_group(self) -> pathlib.Path:
        """A cgroup below this process's own that counts as delegated; the test is skipped where none can be made."""
        lines = lambda name: pathlib.Path("/proc/self", name).read_text().splitlines()
        mounts = [line.split() for line in lines("mountinfo") if " - cgroup2 " in line]
        own = [line[3:] for line in lines("cgroup") if line.startswith("0::/")]
        if not mounts or not own:
            self.skipTest("no cgroup v2 is mounted here")
        group = pathlib.Path(mounts[0][4] + own[0]) / self.folder.name
        try:
            group.mkdir()
            self.addCleanup(self.remove_group, group)
            os.setxattr(group, "user.delegate", b"1")
        except OSError as error:
            self.skipTest(f"no cgroup can be made here: {error}")
        return group

    @staticmethod
    def remove_group(group: pathlib.Path) -> None:
        (group / "cgroup.kill").write_text("1")
        faults.await_true("the group is empty", lambda: "populated 0" in (group / "cgroup.events").read_text())
        for below in [*group.iterdir(), group]:
            if below.is_dir():
                below.rmdir()

    def test_a_command_runs_in_a_group_of_its_own_where_one_was_delegated(self):
        group = self.delegated_group()
        self.serve()
        enter = lambda: (group / "cgroup.procs").write_text("0")
        agent = self.connected_agent("a", "--runner", f"stand-in={self.runner}", preexec_fn=enter)
        self.assertTrue(agent.lines(f"get cgroups below {group}"), agent.tail())
        runs = lambda: list(group.glob("run-*"))

        def processes_in(folder: pathlib.Path) -> list[int]:
            return [int(pid) for pid in (folder / "cgroup.procs").read_text().split()]

        self.start_runner_sweep("hung", trials=1, behaviour="hang")
        faults.await_true("ranks run", lambda: len(self.ranks()) == 2)
        command = [*self.launchers(), *self.ranks()]
        self.assertEqual(sorted(processes_in(runs()[0])), sorted(command), "the command, without its guard")
        self.ask("sweep", "cancel", "hung")
        faults.await_true("nothing of it remains", lambda: not self.ours() and not runs())
        self.runner_agent("b")  # to which a trial whose command was killed goes
        self.start_runner_sweep("s", trials=10, steps=20)
        self.kill_while_it_runs("s", "outer guard")
        self.kill_while_it_runs("s", "inner guard")
        self.finish("s", 10)
        self.assertEqual(runs(), [])

    def test_runs_of_an_agent_that_was_killed_with_its_guards_end_when_it_starts_again(self):
        group = self.delegated_group()
        self.serve()
        enter = lambda: (group / "cgroup.procs").write_text("0")
        agent = self.connected_agent("a", "--runner", f"stand-in={self.runner}", preexec_fn=enter)
        self.start_runner_sweep("s", trials=1, behaviour="hang")
        faults.await_true("ranks run", lambda: len(self.ranks()) == 2)
        # A stopped process whose parent in its group is killed goes on, so children come first.
        victims = [*reversed(self.guards(agent)), agent.pid]
        ran = set(self.ranks())
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for victim in victims:
                os.kill(victim, number)
        agent.wait()
        # A rank that prints meets a closed pipe.
        self.assertTrue(ran & set(self.ranks()), "nobody is left to end the other one")
        self.connected_agent("a", "--runner", f"stand-in={self.runner}", preexec_fn=enter)
        self.assertFalse(ran & set(self.ranks()), "it ended before the agent took any trial")
        self.ask("sweep", "cancel", "s")
        faults.await_true("nothing of it remains", lambda: not self.ours() and not list(group.glob("run-*")))
        self.stop_everything()

    def test_an_agent_without_the_runner_gets_no_trial_of_it(self):
        self.serve()
        self.runner_agent("has-it").signal(signal.SIGSTOP)
        other = self.connected_agent("has-not")
        self.start_runner_sweep("s", trials=1)
        faults.await_true("it says what it waits for", lambda: "runner stand-in" in self.show("s")["sweep"]["reason"]
                          or self.show("s")["trials"][0]["state"] != "pending")
        self.assertEqual(other.given(), [])
        self.agents[0].signal(signal.SIGCONT)
        self.finish("s", 1)


if __name__ == "__main__":
    faults.main()
