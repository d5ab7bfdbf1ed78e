"""A gRPC client by hand, for what no library's client does: it opens streams and reads nothing of them.

Knows as much of HTTP/2 (RFC 9113) and of HPACK (RFC 7541, literals only) as that takes.
"""
import socket
import struct
import typing

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0x0, 0x1, 0x3, 0x4, 0x6, 0x7, 0x8
ACK, END_STREAM, END_HEADERS = 0x1, 0x1, 0x4
INITIAL_WINDOW_SIZE = 0x4
FIRST_WINDOW = 65535  # of a connection and of a stream, before the other end says otherwise
FRAME_BYTES = 16384  # the most that every peer takes
CANCEL = 0x8


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def setting(name: int, value: int) -> bytes:
    return struct.pack(">HI", name, value)


def text(value: str) -> bytes:
    assert len(value) < 127
    return bytes([len(value)]) + value.encode()


def headers(method: str) -> bytes:
    """POST to a method such as "/package.Service/Method"."""
    literals = [(":path", method), (":authority", "localhost"), ("content-type", "application/grpc"),
                ("te", "trailers")]
    post, http = b"\x83", b"\x86"
    return post + http + b"".join(b"\x00" + text(name) + text(value) for name, value in literals)


def varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(0x80 | (value & 0x7F))
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def field(number: int, value: int | str | bytes) -> bytes:
    """One field of a protobuf message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    raw = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def message(encoded: bytes) -> bytes:
    """As gRPC puts one into DATA frames."""
    return b"\0" + struct.pack(">I", len(encoded)) + encoded


class Http2Peer:
    """Grants its streams `window` bytes, and never more."""

    def __init__(self, address: str, window: int):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=10.0)
        self.next_stream = 1
        self.socket.sendall(PREFACE + frame(SETTINGS, 0, 0, setting(INITIAL_WINDOW_SIZE, window)))

    def call(self, method: str, request: bytes, ends: bool = True) -> int:
        """Opens a stream with a first message, and says whether it is the last."""
        stream = self.next_stream
        self.next_stream += 2
        self.socket.sendall(frame(HEADERS, END_HEADERS, stream, headers(method)) +
                            frame(DATA, END_STREAM if ends else 0, stream, message(request)))
        return stream

    def send(self, stream: int, encoded: bytes) -> None:
        self.socket.sendall(frame(DATA, 0, stream, message(encoded)))

    def open_and_reset(self, method: str, streams: int) -> int:
        """Opens that many streams and takes each back at once. Returns how many."""
        frames = []
        for stream in range(self.next_stream, self.next_stream + 2 * streams, 2):
            frames.append(frame(HEADERS, END_HEADERS, stream, headers(method)) +
                          frame(RST_STREAM, 0, stream, struct.pack(">I", CANCEL)))
        self.next_stream += 2 * streams
        self.socket.sendall(b"".join(frames))
        return streams

    def send_unfinished(self, method: str, size: int, streams: int, quiet_s: float) -> int:
        """Opens streams and sends on each a message of `size` bytes but for its last byte, as the other end's windows
        admit, until it has widened none for `quiet_s`. Returns how many bytes it took. REQUIRES: nothing but this is
        sent on the connection."""
        connection, first, sent = FIRST_WINDOW, FIRST_WINDOW, 0
        prefix = message(b"")[:1] + struct.pack(">I", size)
        opened = range(self.next_stream, self.next_stream + 2 * streams, 2)
        self.next_stream += 2 * streams
        self.socket.sendall(b"".join(frame(HEADERS, END_HEADERS, stream, headers(method)) for stream in opened))
        left = {stream: len(prefix) + size - 1 for stream in opened}
        windows = {stream: 0 for stream in opened}
        answers = self.frames(quiet_s)
        while True:
            for stream in left:
                while (n := min(left[stream], connection, first + windows[stream], FRAME_BYTES)) > 0:
                    data = prefix + bytes(n - len(prefix)) if windows[stream] == 0 else bytes(n)
                    try:
                        self.socket.sendall(frame(DATA, 0, stream, data))
                    except OSError:
                        return sent
                    left[stream] -= n
                    windows[stream] -= n
                    connection -= n
                    sent += n
            kind, flags, stream, payload = next(answers, (GOAWAY, 0, 0, b""))
            if kind == GOAWAY:
                return sent
            if kind == WINDOW_UPDATE and stream == 0:
                connection += int.from_bytes(payload, "big")
            elif kind == WINDOW_UPDATE and stream in windows:
                windows[stream] += int.from_bytes(payload, "big")
            elif kind == RST_STREAM:
                left.pop(stream, None)
            elif kind == SETTINGS and not flags & ACK:
                for i in range(0, len(payload), 6):
                    name, value = struct.unpack(">HI", payload[i:i + 6])
                    first = value if name == INITIAL_WINDOW_SIZE else first

    def frames(self, timeout_s: float) -> typing.Iterator[tuple[int, int, int, bytes]]:
        """What comes, until nothing does for that long or the connection ends: kind, flags, stream, payload.

        Says that it is alive: settings and pings are answered, as every HTTP/2 library does by itself.
        """
        self.socket.settimeout(timeout_s)
        try:
            while True:
                head = self._read(9)
                length = int.from_bytes(head[:3], "big")
                kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big") & 0x7FFFFFFF
                payload = self._read(length)
                if kind in (SETTINGS, PING) and not flags & ACK:
                    self.socket.sendall(frame(kind, ACK, 0, payload if kind == PING else b""))
                yield kind, flags, stream, payload
        except OSError:
            return

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self.socket.recv(size - len(data))
            if not more:
                raise ConnectionResetError("the other end closed")
            data += more
        return data

    def close(self) -> None:
        self.socket.close()
