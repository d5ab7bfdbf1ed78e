"""What the programs have in common that give exports to a framework's own parser.

Such a program runs in the environment of its framework. It reads exports as JSON from standard input and writes the
problem of each as JSON, null where there is none; with the argument `names` it prints the framework's names.
"""
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import typing

# Standard output is for the answer alone: what a framework prints goes to standard error.
ANSWER = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)

CAPTURE = """import json, os, sys
json.dump({"words": sys.argv[1:], "environment": dict(os.environ)}, open(os.environ["CAPTURE"], "w"))
"""


def launch(text, programs, environment):
    """Runs an exported script with stand-ins for the programs that start ranks; returns the words and the environment
    that the last of them got."""
    with tempfile.TemporaryDirectory() as folder:
        for program in programs:
            path = os.path.join(folder, program)
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"#!{sys.executable}\n{CAPTURE}")
            os.chmod(path, 0o755)
        capture = os.path.join(folder, "capture.json")
        subprocess.run(["bash", "-u", "-c", text], check=True, stdin=subprocess.DEVNULL,
                       env={"PATH": f"{folder}:/usr/bin:/bin", "CAPTURE": capture, **environment})
        with open(capture, encoding="utf-8") as file:
            captured = json.load(file)
    return captured["words"], captured["environment"]


def problem_of(check, export):
    """Returns what the parser has against the export, or None."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            check(export)
    except SystemExit:
        return "\n".join(said.getvalue().strip().splitlines()[-3:])
    except Exception as error:  # parsers raise errors of all kinds
        return f"{type(error).__name__}: {error}"
    return None


def keys_of(section, prefix=""):
    """Yields the keys of a file, those of sections with dots."""
    for key, value in section.items():
        if isinstance(value, dict):
            yield from keys_of(value, f"{prefix}{key}.")
        else:
            yield prefix + key


def fields_of_model(model, prefix=""):
    """Yields the names of a pydantic model's fields, those of models inside it with dots."""
    for name, field in model.model_fields.items():
        # Names by which a file says a field: its own, or an alias.
        for said in {name, field.alias or name}:
            yield prefix + said
            for kind in (field.annotation, *typing.get_args(field.annotation)):
                if isinstance(kind, type) and hasattr(kind, "model_fields"):
                    yield from fields_of_model(kind, f"{prefix}{said}.")


def run(check, names):
    if sys.argv[1:] == ["names"]:
        print("\n".join(sorted(set(names()))), file=ANSWER)
    else:
        json.dump([problem_of(check, export) for export in json.load(sys.stdin)], ANSWER)
    ANSWER.close()
