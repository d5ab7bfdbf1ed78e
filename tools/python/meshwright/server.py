"""Sweeps of a server: started, followed, and asked for what to run next."""
from .answers import Answer, Record
from .planner import Planner

_TRIALS = {"number": ("#", str), "state": ("state", str), "layout": ("layout", str)}


class Server(Planner):
    """A running `meshwright serve`. It answers all that a Planner does, and runs sweeps.

    tls_ca, tls_cert, tls_key, token_file: files, as the flags of the same names. Off loopback a server needs them.
    """

    def __init__(self, address="127.0.0.1:7077", *, tls_ca=None, tls_cert=None, tls_key=None, token_file=None):
        super().__init__(server=address, tls_ca=tls_ca, tls_cert=tls_cert, tls_key=tls_key, token_file=token_file)
        self.sweeps = Sweeps(self)

    def agents(self):
        """The agents that are connected, with their devices."""
        return self._answer("agents list", "agents", None)


class Sweeps:
    """The sweeps of a server."""

    def __init__(self, server):
        self._server = server

    def start(self, model, cluster, *, seq_len, **flags):
        """Starts a sweep and returns it. trials: how many at most. Flags are those of `meshwright sweep start`."""
        started = self._server.run("sweep start", model=model, cluster=cluster, seq_len=seq_len, **flags).outputs[-1]
        return Sweep(self._server, started["name"].removeprefix("sweeps/"), started)

    def __getitem__(self, name):
        return Sweep(self._server, name)

    def list(self):
        """All sweeps, newest first."""
        return self._server._answer("sweep list", "sweeps", None)

    def show(self, name):
        """A sweep's trials, measured and predicted; see Sweep.show()."""
        return self[name].show()

    def watch(self, name, after=0):
        """A sweep's events; see Sweep.watch()."""
        return self[name].watch(after)


class Sweep:
    """One sweep of a server. `started` is what `sweep start` answered; None for a sweep that was there before."""

    def __init__(self, server, name, started=None):
        self._server = server
        self.name = name
        self.started = started and Record(started)

    def __repr__(self):
        return f"Sweep({self.name!r})"

    def show(self):
        """The trials, shortest step first, with a drawing of how the sweep converged."""
        return self._server._answer("sweep show", "trials", _TRIALS, plot=True, name=self.name)

    def watch(self, after=0):
        """Yields the sweep's events (Record) as they happen, until it has ended; progress has the sequence number 0.

        after: only events with a larger sequence number.
        """
        task = self._server._open().start("sweep watch", {"name": self.name, "after": after})
        with task:
            for kind, value in task.events():
                if kind == "output":
                    yield Record(value)

    def ask(self, **flags):
        """Takes the next trial of a sweep that was started with ask=True, to run it elsewhere (Record).

        It has layout, predicted_step_s (seconds), token, lease_end_time, and with to="torchtitan" or another framework
        export. lease: how long the trial is yours, such as "24h". launch: as in export().
        """
        return Record(self._server.run("sweep ask", name=self.name, **flags).outputs[-1])

    def tell(self, trial, *, outcome=None, step_s=None, **flags):
        """Tells what came of a trial that ask() returned, and returns its state (Record).

        step_s: median step time, seconds; the outcome is then "ok" unless it is given. outcome: "ok", "oom" or
        "failed". peak_bytes: largest peak of a device's memory. message: what went wrong. renew="12h" keeps the trial
        for longer, and give_back=True returns it.
        """
        if outcome is None and step_s is not None:
            outcome = "ok"
        return Record(self._server.run("sweep tell", name=self.name, trial=trial.trial, token=trial.token,
                                       outcome=outcome, step_s=step_s, **flags).outputs[-1])

    def cancel(self):
        """Ends the sweep; finished trials stay."""
        return Record(self._server.run("sweep cancel", name=self.name).outputs[-1])
