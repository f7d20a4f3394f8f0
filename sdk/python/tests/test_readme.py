"""Runs the quick start of the README as a reader would."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


class Readme(unittest.TestCase):
    def test_the_quick_start_runs(self) -> None:
        (snippet,) = re.findall("```python\n(.*?)```", (PACKAGE / "README.md").read_text("utf-8"), re.DOTALL)
        environment = {**os.environ, "CYCLORAMA_KEY": os.environ["CYCLORAMA_TEST_MAIN_KEY"], "PYTHONPATH": str(PACKAGE / "src")}
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run([sys.executable, "-c", snippet], cwd=folder, env=environment, capture_output=True, text=True)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertRegex(run.stdout, r"^1024 px, 1 credit, \d+ left\n$")
            self.assertEqual((Path(folder) / "civic.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")


if __name__ == "__main__":
    unittest.main()
