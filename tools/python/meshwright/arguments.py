"""Python values as a command's arguments: models, ranges of devices, paths."""
import collections.abc
import os


def model(value):
    """A preset, a path, a config.json as a dict, or a configuration of transformers, or a model that has one."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, collections.abc.Mapping):
        return dict(value)
    config = value if hasattr(value, "to_dict") else getattr(value, "config", None)
    if hasattr(config, "to_dict"):
        return config.to_dict()
    raise TypeError(f"model is a {type(value).__name__}; must be a name, a path, a dict or a configuration of "
                    "transformers")


def spec(value):
    """A preset, a path, or the JSON of a cluster's or profile's file as a dict."""
    return dict(value) if isinstance(value, collections.abc.Mapping) else os.fspath(value)


def gpus(value):
    """A number of devices, or (8, 1024) for 8, 16, 32 and so on up to 1,024."""
    if isinstance(value, (tuple, list)):
        low, high = value
        return f"{low}..{high}"
    return value


_CONVERSIONS = {"model": model, "cluster": spec, "framework": spec, "gpus": gpus}


def _plain(value):
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    # Scalars of NumPy and the like.
    return value.item() if hasattr(value, "item") else value


def of(named):
    """The arguments of a command. None stands for an argument that is not given."""
    return {name: _plain(_CONVERSIONS.get(name, _plain)(value)) for name, value in named.items() if value is not None}
