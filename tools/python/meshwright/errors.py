"""What goes wrong, as exceptions that carry the fields of the command's error."""


class MeshwrightError(Exception):
    """A command failed.

    `code` is a canonical status code such as "INVALID_ARGUMENT", `field` the argument that is off or None, and
    `message` one sentence.
    """

    def __init__(self, message, code="UNKNOWN", field=None):
        super().__init__(message)
        self.message = message
        self.code = code
        self.field = field

    def __reduce__(self):
        return type(self), (self.message, self.code, self.field)


class InvalidArgument(MeshwrightError, ValueError):
    """An argument is off: `field` names it."""


class NotFound(MeshwrightError, LookupError):
    """A preset, file, sweep or trial is not there."""


class Unavailable(MeshwrightError, ConnectionError):
    """The server does not answer."""


class Cancelled(MeshwrightError):
    """The command was cancelled before it was done."""


_CLASSES = {
    "INVALID_ARGUMENT": InvalidArgument,
    "OUT_OF_RANGE": InvalidArgument,
    "NOT_FOUND": NotFound,
    "UNAVAILABLE": Unavailable,
    "CANCELLED": Cancelled,
}


def from_json(error):
    """The exception for an error as commands print it: an object of code, message and perhaps field."""
    return _CLASSES.get(error["code"], MeshwrightError)(error["message"], error["code"], error.get("field"))
