"""The fields of a framework's configuration classes, read from its sources without importing them."""
import ast
import pathlib


class Sources:
    """Classes of Python files below folders, found by name."""

    def __init__(self, *folders):
        self.files = {}
        for folder in map(pathlib.Path, folders):
            for path in folder.rglob("*.py"):
                module = ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")
                self.files[module] = path
        self.modules = {}

    def module(self, name):
        """Returns what the module defines and where its other names are imported from."""
        if name not in self.modules:
            classes, imports = {}, {}
            path = self.files.get(name)
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if path else ():
                if isinstance(node, ast.ClassDef):
                    classes[node.name] = node
                elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                    classes.setdefault(node.targets[0].id, node)   # another name of a union of classes
                elif isinstance(node, ast.ImportFrom):
                    package = imported_from(name, path, node)
                    for alias in node.names:
                        imports[alias.asname or alias.name] = (package, alias.name)
            self.modules[name] = (classes, imports)
        return self.modules[name]

    def find(self, module, name):
        """Returns the module that defines a class which `module` knows by this name, and the class; None if the
        class is not among the sources."""
        classes, imports = self.module(module)
        if name in classes:
            return module, classes[name]
        if name in imports and imports[name] != (module, name):
            return self.find(*imports[name])
        return None

    def fields(self, module, name):
        """Yields the fields of a class and of the classes that it extends: name, module, annotation."""
        found = self.find(module, name)
        if not found:
            return
        module, node = found
        if isinstance(node, ast.Assign):
            for kind in ast.walk(node.value):
                if isinstance(kind, ast.Name) and kind.id != name:
                    yield from self.fields(module, kind.id)
            return
        for base in node.bases:
            if isinstance(base, ast.Name):
                yield from self.fields(module, base.id)
        for statement in node.body:
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                yield statement.target.id, module, statement.annotation

    def names(self, module, name, prefix=""):
        """Yields the names of the class's fields, with those of classes in their annotations after a dot."""
        for field, where, annotation in self.fields(module, name):
            if field.startswith("_"):
                continue
            yield prefix + field
            for kind in ast.walk(annotation):
                if isinstance(kind, ast.Name) and self.find(where, kind.id):
                    yield from self.names(where, kind.id, f"{prefix}{field}.")

    def parameters(self, module, name):
        """Yields the names of what a class is made with."""
        found = self.find(module, name)
        for statement in found[1].body if found else ():
            if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
                yield from (argument.arg for argument in statement.args.args[1:])


def imported_from(module, path, node):
    """Returns the package that a `from ... import` means."""
    if not node.level:
        return node.module
    parts = module.split(".")
    if path.name != "__init__.py":
        parts = parts[:-1]
    parts = parts[:len(parts) - node.level + 1]
    return ".".join([*parts, *([node.module] if node.module else [])])
