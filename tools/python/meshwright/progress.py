"""Shows how far a long command is: a bar in a notebook, a line in a terminal, nothing elsewhere."""
import sys

_BAR_WIDTH = 24


def _line(done, of, text):
    filled = min(_BAR_WIDTH, _BAR_WIDTH * done // of) if of > 0 else 0
    return f"[{'#' * filled}{'.' * (_BAR_WIDTH - filled)}] {done}/{of} {text}"


def _in_notebook():
    """Whether a kernel runs this. IPython is looked up, not imported: it takes long to import."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


class _Terminal:
    def __init__(self, stream):
        self._stream = stream
        self._open = False

    def __call__(self, done, of, text):
        self._stream.write("\r\x1b[K" + _line(done, of, text))
        self._stream.flush()
        self._open = True

    def close(self):
        if self._open:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


class _Notebook:
    def __init__(self):
        self._handle = None

    def __call__(self, done, of, text):
        import html

        from IPython.display import HTML, display
        shown = HTML(f"<progress value='{done}' max='{max(of, 1)}'></progress> {done}/{of} {html.escape(text)}")
        if self._handle is None:
            self._handle = display(shown, display_id=True)
        else:
            self._handle.update(shown)

    def close(self):
        if self._handle is not None:
            from IPython.display import HTML
            self._handle.update(HTML(""))


class _Nothing:
    """No function: the caller need not be called."""

    def close(self):
        pass


def shower():
    """What shows progress here: a callable of (done, of, text), or one that is not callable, both with close()."""
    if _in_notebook():
        return _Notebook()
    if sys.stderr is not None and sys.stderr.isatty():
        return _Terminal(sys.stderr)
    return _Nothing()
