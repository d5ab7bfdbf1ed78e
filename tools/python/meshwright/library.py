"""libmeshwright.so, loaded by ctypes: sessions, and commands that run in them until they are done or cancelled.

A command runs on threads of the library. Python waits for its events at most 100 ms at a time and looks for signals in
between, which is how Ctrl-C cancels it.
"""
import ctypes
import json
import os
import pathlib
import threading

from . import errors

# Names another libmeshwright.so than the one that lies in this package.
LIBRARY_VARIABLE = "MESHWRIGHT_LIBRARY"
_PACKAGE = pathlib.Path(__file__).resolve().parent
_WAIT_MS = 100

_lock = threading.Lock()
_loaded = None


def path():
    """The path of libmeshwright.so."""
    return os.environ.get(LIBRARY_VARIABLE) or str(_PACKAGE / "lib/cli/libmeshwright.so")


def load():
    """The library with the types of its functions. It stays local: nothing else in the process sees its symbols."""
    global _loaded
    with _lock:
        if _loaded is None:
            library = ctypes.CDLL(path(), mode=os.RTLD_LOCAL | os.RTLD_NOW)
            for name, result, *arguments in (
                    ("mw_version", ctypes.c_char_p),
                    ("mw_open", ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)),
                    ("mw_close", None, ctypes.c_void_p),
                    ("mw_start", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p),
                    ("mw_next", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32),
                    ("mw_cancel", None, ctypes.c_void_p),
                    ("mw_free", None, ctypes.c_void_p),
                    ("mw_free_text", None, ctypes.c_void_p)):
                function = getattr(library, name)
                function.restype = result
                function.argtypes = arguments
            _loaded = library
    return _loaded


def _taken(library, text):
    """The JSON of a text that the library made, which is freed; None for no text."""
    if not text:
        return None
    try:
        return json.loads(ctypes.string_at(text))
    finally:
        library.mw_free_text(text)


class Session:
    """The planner of this process, or a server's. `arguments` go to every command that knows them."""

    def __init__(self, arguments=None):
        self._library = load()
        error = ctypes.c_void_p()
        self._handle = self._library.mw_open(json.dumps(arguments or {}).encode(), ctypes.byref(error))
        if not self._handle:
            raise errors.from_json(_taken(self._library, error.value)["error"])

    def __del__(self):
        if getattr(self, "_handle", None):
            self._library.mw_close(self._handle)

    def start(self, command, arguments, keep=()):
        return Task(self, {"command": command, "arguments": arguments, "keep": list(keep)})

    def call(self, command, arguments, keep=(), on_progress=None):
        """Runs a command and returns its Result. Raises MeshwrightError."""
        with self.start(command, arguments, keep) as task:
            outputs = []
            for kind, value in task.events():
                if kind == "output":
                    outputs.append(value)
                elif on_progress is not None:
                    on_progress(value["done"], value["of"], value["text"])
            return Result(outputs, task.messages, task.texts)


class Result:
    """All that a command answered: JSON objects, notes for people, and texts such as {"plot": "<svg…"}."""

    def __init__(self, outputs, messages, texts):
        self.outputs = outputs
        self.messages = messages
        self.texts = texts


class Task:
    """A command that runs. As a context manager it is cancelled and freed at the end of the block."""

    def __init__(self, session, request):
        self._library = session._library
        self._session = session  # stays open
        self.messages = []
        self.texts = {}
        self._handle = self._library.mw_start(session._handle, json.dumps(request).encode())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.free()

    def __del__(self):
        self.free()

    def free(self):
        handle, self._handle = getattr(self, "_handle", None), None
        if handle:
            self._library.mw_free(handle)

    def cancel(self):
        """Asks the command to end soon."""
        if self._handle:
            self._library.mw_cancel(self._handle)

    def events(self):
        """Yields ("progress", {…}) and ("output", {…}) until the command is done. Raises the command's error."""
        while self._handle:
            event = _taken(self._library, self._library.mw_next(self._handle, _WAIT_MS))
            if event is None:
                continue
            (kind, value), = event.items()
            if kind != "done":
                yield kind, value
                continue
            self.messages = value.get("messages", [])
            self.texts = value.get("texts", {})
            if "error" in value:
                raise errors.from_json(value["error"])
            return
