"""The module in one process with libraries that bring their own protobuf, gRPC or Abseil, imported before and after it.

MESHWRIGHT_OTHER_PYTHON names a Python that has them (tools/setup --frameworks=run makes one); without it, the tests
take this Python's. What is not installed is skipped.
"""
import os
import subprocess
import sys
import unittest

from module import QUESTION, in_child

PYTHON = os.environ.get("MESHWRIGHT_OTHER_PYTHON") or sys.executable
# Uses the planner, and gRPC with a server that is not there.
OURS = f"""
import meshwright as mw
def ours():
    assert len(mw.recommend(**{QUESTION!r}, top=3)) == 3
    try:
        mw.Server("127.0.0.1:1").sweeps.list()
    except mw.Unavailable:
        return
    raise AssertionError("nobody listens there")
"""
THEIRS = {
    "torch": """
import torch
def theirs():
    x = torch.ones(64, 64, requires_grad=True)
    (x @ x).sum().backward()
    assert float(x.grad[0, 0]) == 128
""",
    "pyarrow": """
import io, pyarrow, pyarrow.compute, pyarrow.parquet
def theirs():
    table = pyarrow.table({"a": list(range(1000)), "b": [str(i) for i in range(1000)]})
    file = io.BytesIO()
    pyarrow.parquet.write_table(table, file)
    assert pyarrow.compute.sum(pyarrow.parquet.read_table(file)["a"]).as_py() == 499500
""",
    "grpc": """
import concurrent.futures, grpc
def theirs():
    class Handler(grpc.GenericRpcHandler):
        def service(self, call):
            return grpc.unary_unary_rpc_method_handler(lambda request, context: request[::-1])
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(2), [Handler()])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        assert channel.unary_unary("/a/b")(b"abc", timeout=20) == b"cba"
    server.stop(None).wait()
""",
}
# A user of the library asks for one at a time, then for both in turn.
ORDERS = {"before": "{theirs}{ours}theirs(); ours(); theirs(); ours()",
          "after": "{ours}ours()\n{theirs}theirs(); ours(); theirs()"}


def has(module):
    script = f"import importlib.util, sys; sys.exit(not importlib.util.find_spec('{module}'))"
    return subprocess.run([PYTHON, "-c", script], check=False).returncode == 0


class OtherLibraries(unittest.TestCase):
    def goes_with(self, *modules):
        missing = [module for module in modules if not has(module)]
        if missing:
            self.skipTest(f"{PYTHON} has no {' and no '.join(missing)}")
        theirs = "".join(THEIRS[module].replace("def theirs", f"def {module}_works") for module in modules)
        theirs += "def theirs():\n    " + "; ".join(f"{module}_works()" for module in modules) + "\n"
        for order, script in ORDERS.items():
            with self.subTest(order):
                done = in_child(script.format(theirs=theirs, ours=OURS), python=PYTHON)
                self.assertEqual(done.returncode, 0, done.stderr[-2000:])

    def test_torch(self):
        self.goes_with("torch")

    def test_pyarrow(self):
        self.goes_with("pyarrow")

    def test_grpc(self):
        self.goes_with("grpc")

    def test_all_of_them(self):
        self.goes_with("torch", "pyarrow", "grpc")


if __name__ == "__main__":
    unittest.main()
