"""docs/accuracy.md has the table of planner/data/left_out.json as `tools/leave_one_out --table` prints it."""
import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class LeftOutTableTest(unittest.TestCase):
    def test_the_page_has_the_figures_of_the_data(self):
        table = subprocess.run([ROOT / "tools/leave_one_out", "--table"], check=True, capture_output=True, text=True).stdout
        self.assertGreater(table.count("\n"), 10)
        self.assertIn(table, (ROOT / "docs/accuracy.md").read_text(),
                      "put what `tools/leave_one_out --table` prints into docs/accuracy.md")


if __name__ == "__main__":
    unittest.main()
