"""What ends a run, or an item of it, from inside."""


class UsageError(Exception):
    """The command line can't be followed; the message says why and what would be accepted."""


class OutOfTime(Exception):
    """The part's time ended before the item did."""


class ItemFailed(Exception):
    """An item can't say anything but that it failed; the message says why."""
