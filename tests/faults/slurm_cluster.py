"""A Slurm of two nodes, n1 and n2, on this machine: slurmctld and two slurmds of Debian's packages, without munge.

Its configuration, state, spool and logs lie in the folder of the test that has it, and all of it listens on loopback.
Whatever runs in it, its own steps and what they started, has the path of that configuration in its environment; that
is how leftovers are told from any other process.
"""
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess

import faults

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "salloc", "srun", "squeue", "scancel", "sinfo")
NODES = ("n1", "n2")
# A node counts as down some missed pings after SlurmdTimeout.
NODE_LOSS_S = 90.0
CONFIGURATION = """\
ClusterName=meshwright
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
AuthInfo=cred_expire=5
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdTimeout=10
KillWait=10
SlurmdParameters=config_overrides
SchedulerParameters=sched_min_interval=100000,bf_interval=1
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdSpoolDir={folder}/spool-%n
SlurmdPidFile={folder}/slurmd-%n.pid
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""


def find_programs() -> str:
    """Sets PATH to where they are. The first that is missing; empty: none is."""
    os.environ["PATH"] = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    return next((program for program in PROGRAMS if not shutil.which(program)), "")


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Cluster:
    def __init__(self, test: faults.FaultTest):
        self.test = test
        self.folder = test.folder / "slurm"
        for name in ("state", *(f"spool-{node}" for node in NODES)):
            (self.folder / name).mkdir(parents=True)
        self.configuration = self.folder / "slurm.conf"
        self.configuration.write_text(CONFIGURATION.format(
            host=socket.gethostname().split(".")[0], ports=free_ports(3), folder=self.folder,
            user=pwd.getpwuid(os.getuid()).pw_name))
        self.environment = {**os.environ, "SLURM_CONF": str(self.configuration)}
        test.addCleanup(self.end)
        self.controller = test.start("slurmctld", "-D", env=self.environment)
        self.daemons: dict[str, faults.Process] = {}
        for node in NODES:
            self.start_node(node)
        faults.await_true("both nodes are idle", lambda: self.ask("sinfo", "-h", "-o", "%T").split() == ["idle"])

    def start_node(self, node: str) -> None:
        self.daemons[node] = self.test.start("slurmd", "-D", "-N", node, env=self.environment)

    def ask(self, *words: str) -> str:
        done = subprocess.run(words, capture_output=True, text=True, timeout=30.0, check=False, env=self.environment)
        return done.stdout.strip()

    def jobs(self) -> list[str]:
        """Those that have not ended, as "name state node"."""
        return self.ask("squeue", "--noheader", "--format=%j %T %N").splitlines()

    def pids(self) -> list[int]:
        """All that belongs to it, the daemons too."""
        mark = f"SLURM_CONF={self.configuration}".encode()
        return [int(entry.name) for entry in pathlib.Path("/proc").iterdir()
                if entry.name.isdigit() and mark in environment_of(int(entry.name))]

    def on_node(self, node: str) -> list[int]:
        """What runs in the steps on a node, and the daemons of those steps, which don't say where they are."""
        mark = f"SLURMD_NODENAME={node}".encode()
        tasks = [pid for pid in self.pids() if mark in environment_of(pid)]
        steps = {parent for parent in map(faults.parent_of, tasks) if faults.command_of(parent)[0].startswith("slurmstepd")}
        return [*steps, *tasks]

    def lose_node(self, node: str) -> None:
        """As when its power fails: nothing on it says another word."""
        steps = self.on_node(node)
        for pid in (self.daemons[node].pid, *steps):
            os.kill(pid, signal.SIGSTOP)
        kill(steps)
        self.daemons[node].kill()

    def end(self) -> None:
        for daemon in (self.controller, *self.daemons.values()):
            daemon.kill()
        faults.await_true("nothing of Slurm is left", lambda: not kill(self.pids()), 20.0)


def environment_of(pid: int) -> list[bytes]:
    try:
        return pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def kill(pids: list[int]) -> list[int]:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return pids
