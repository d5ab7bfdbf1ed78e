"""What tests of commands of runners share that kill one of a command's processes, its agent or its server."""
import os
import signal

import faults


class CommandKills(faults.FaultTest):
    SERVE: tuple[str, ...] = ("--max-agent-failures", "1000")
    MEASURED_WITHIN_S = faults.DEADLINE_S  # what ran when something was killed, killed commands' next attempts included

    # What a test says of its framework.

    def launchers(self) -> list[int]:
        raise NotImplementedError

    def ranks(self) -> list[int]:
        raise NotImplementedError

    def runner_agent(self, name: str) -> faults.Agent:
        raise NotImplementedError

    def guards(self, agent: faults.Agent) -> list[int]:
        """The outer guard and the inner one."""
        outer = [pid for pid in faults.children_of(agent.pid) if faults.command_of(pid)[1:2] == ["guard"]]
        inner = [pid for guard in outer for pid in faults.children_of(guard) if faults.command_of(pid)[1:2] == ["guard"]]
        return outer + inner

    def ours(self) -> list[int]:
        return [*self.launchers(), *self.ranks()]

    def victims(self, whom: str) -> list[int]:
        """The processes of this kind that run now, of commands that end by themselves at any time."""
        if whom == "server":
            return [self.servers[-1].pid]
        guards = [(agent, self.guards(agent)) for agent in self.agents if agent.running()]
        if whom == "agent":
            return [agent.pid for agent, of_agent in guards if of_agent]
        if whom in ("outer guard", "inner guard"):
            return [of_agent[0 if whom == "outer guard" else 1] for _, of_agent in guards if len(of_agent) == 2]
        return self.launchers() if whom == "launcher" else self.ranks()

    def killed_processes(self, victim: int, whom: str) -> set[int]:
        """What has to end once it is killed. The command of another agent may run for long, and one outlives the server."""
        if whom == "server":
            return set()
        for agent in self.agents:
            guards = self.guards(agent)
            below = {pid for guard in guards for pid in faults.children_of(guard)}
            command = below | {rank for launcher in below for rank in faults.children_of(launcher)}
            if victim in {agent.pid, *guards, *command}:
                return {victim, *guards, *command}
        raise ProcessLookupError(victim)

    def kill_while_it_runs(self, sweep: str, whom: str) -> None:
        """Kills one of the processes while commands run, and waits for the end of the trials that ran."""
        victim = faults.await_true(f"a {whom} runs", lambda: len(self.ranks()) >= 2 and self.victims(whom))[0]
        ran = [trial["trial"] for trial in self.show(sweep)["trials"] if trial["state"] == "running"]
        try:
            ends = self.killed_processes(victim, whom)
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            self.kill_while_it_runs(sweep, whom)  # the command ended in between
            return
        if whom == "server":
            self.servers[-1].wait()
            self.serve()
        if whom == "agent":
            agent = next(agent for agent in self.agents if agent.pid == victim)
            agent.wait()
            self.runner_agent(agent.name)
        faults.await_true(f"nothing remains of the command when the {whom} was killed",
                          lambda: not any(faults.state_of(pid) not in ("Z", "") for pid in ends), 60.0)
        # So that no trial loses two attempts on purpose.
        states = lambda: {trial["trial"]: trial["state"] for trial in self.show(sweep)["trials"]}
        faults.await_true(f"what ran when the {whom} was killed is measured",
                          lambda: all(states()[trial] == "ok" for trial in ran), self.MEASURED_WITHIN_S)

    def finish(self, sweep: str, trials: int) -> None:
        self.check_ranked(sweep, trials)
        self.check_events(sweep, trials)
        self.check_acknowledged()
        self.stop_everything()
        self.assertEqual(self.ours(), [])
        self.assertEqual(list(self.folder.glob("state-*/runs/*")), [], "folders of runs are removed")

    def check_ranked(self, sweep: str, trials: int) -> None:
        raise NotImplementedError
