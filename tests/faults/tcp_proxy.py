"""A network that a test can cut: hands on what comes to a port of its own, or does not."""
import enum
import select
import socket
import struct
import threading
import time

LOOK_S = 0.02  # how soon a cut is one
AT_ONCE = struct.pack("ii", 1, 0)  # SO_LINGER: close() sends a reset


class Network(enum.Enum):
    WHOLE = "hands on"
    SILENT = "hands on nothing, and says nothing of it: both ends believe that they are connected"
    RESET = "ends what is connected and whoever tries to connect by a reset"


class TcpProxy:
    """Connections to `address` go to `target`, as long as the network is whole."""

    def __init__(self, target: str):
        host, port = target.rsplit(":", 1)
        self.target = (host, int(port))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.network = Network.WHOLE
        self.other_end: dict[socket.socket, socket.socket] = {}
        self.ended: set[socket.socket] = set()  # whose data has come to its end
        self.closing = False
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.closing = True
        self.thread.join()
        self._reset_all()
        self.listener.close()

    def _run(self) -> None:
        while not self.closing:
            if self.network is Network.SILENT:
                time.sleep(LOOK_S)
                continue
            if self.network is Network.RESET:
                self._reset_all()
            readable, _, _ = select.select([self.listener, *(set(self.other_end) - self.ended)], [], [], LOOK_S)
            for end in readable:
                # A cut holds for what was readable before it, too.
                if self.network is Network.SILENT:
                    break
                if end is self.listener:
                    self._accept()
                elif end in self.other_end:
                    self._hand_on(end)

    def _accept(self) -> None:
        near, _ = self.listener.accept()
        if self.network is Network.RESET:
            return self._reset(near)
        try:
            far = socket.create_connection(self.target)
        except OSError:
            return self._reset(near)
        self.other_end.update({near: far, far: near})

    def _hand_on(self, end: socket.socket) -> None:
        other = self.other_end[end]
        try:
            data = end.recv(1 << 16)
            if data:
                return other.sendall(data)
            self.ended.add(end)
            other.shutdown(socket.SHUT_WR)
        except OSError:
            return self._reset(end, other)
        if other in self.ended:
            self._reset(end, other)

    def _reset(self, *ends: socket.socket) -> None:
        for end in ends:
            self.other_end.pop(end, None)
            self.ended.discard(end)
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
            end.close()

    def _reset_all(self) -> None:
        self._reset(*list(self.other_end))
