"""docs/tutorial.ipynb and the Python of docs/python.md run as they stand."""
import importlib.util
import json
import re
import sys
import unittest

from module import SOURCE, in_child

sys.path.insert(0, str(SOURCE / "tests/docs"))
import page  # noqa: E402

NOTEBOOK = SOURCE / "docs/tutorial.ipynb"
PAGE = SOURCE / "docs/python.md"


class Notebook(unittest.TestCase):
    def cells(self):
        return [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]

    def test_is_committed_without_outputs(self):
        for cell in self.cells():
            self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None))

    def test_its_cells_run_in_order_in_a_plain_python(self):
        done = in_child("\n".join("".join(cell["source"]) for cell in self.cells()))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("global_batch |", done.stdout)

    @unittest.skipUnless(importlib.util.find_spec("nbclient") and importlib.util.find_spec("ipykernel"),
                         "nbclient and ipykernel are not installed in this Python")
    def test_shows_tables_and_drawings_in_a_kernel(self):
        import nbclient
        import nbformat
        notebook = nbformat.read(NOTEBOOK, as_version=4)
        nbclient.NotebookClient(notebook, timeout=100, kernel_name="python3").execute()
        shown = [output["data"] for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs
                 if output.output_type == "execute_result"]
        self.assertEqual(sum("<table>" in data.get("text/html", "") for data in shown), 4)
        self.assertEqual(sum("<svg" in data.get("text/html", "") for data in shown), 2)


class Page(unittest.TestCase):
    def test_its_python_runs_block_by_block(self):
        blocks = ["\n".join(block.lines) for block in page.blocks(PAGE) if block.language == "python"]
        self.assertGreaterEqual(len(blocks), 4)
        script = "\n".join(blocks)
        if not importlib.util.find_spec("pandas"):
            script = re.sub(r"^.*\bdf\b.*$", "", script, flags=re.MULTILINE)
        done = in_child(script, python=sys.executable)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
