#!/usr/bin/env python3
"""Output that can't be written is told and fails the command; a reader that went away is neither.

Usage: lost_output_test.py FOLDER_OF_BINARIES
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

MESHWRIGHT = ""
DEADLINE_S = 60
PLAN = ["--model", "llama-3-8b", "--cluster", "h100", "--gpus", "8", "--seq-len", "4096", "--global-batch", "64"]
LAYOUT = "tp2.pp1.dp4.mb1.zero1.sp1"
COMMANDS = [
    ["--help"],
    ["--version"],
    ["recommend", "--help"],
    ["recommend", *PLAN],
    ["recommend", *PLAN, "--format", "json"],
    ["estimate", *PLAN, "--layout", LAYOUT],
    ["export", "--to", "megatron", "--model", "llama-3-8b", "--layout", LAYOUT, "--seq-len", "4096", "--global-batch",
     "64"],
    ["list", "models"],
    ["list", "clusters", "h100"],
    ["schedule", "--layout", "tp1.pp4.dp1", "--micro-batches", "8"],
]


class LostOutputTest(unittest.TestCase):
    def check(self, arguments, **options):
        run = subprocess.run([MESHWRIGHT, *arguments], stderr=subprocess.PIPE, timeout=DEADLINE_S, **options)
        self.assertEqual(run.returncode, 1, arguments)
        self.assertIn(b"standard output can't be written", run.stderr, arguments)
        return run.stderr

    def test_a_full_disk_fails_every_command(self):
        with open("/dev/full", "wb") as full:
            for arguments in COMMANDS:
                self.assertIn(b"No space left on device", self.check(arguments, stdout=full))

    def test_a_closed_output_fails_every_command(self):
        for arguments in COMMANDS:
            self.check(arguments, preexec_fn=lambda: os.close(1))

    def test_commands_that_need_files_fail_too(self):
        with tempfile.TemporaryDirectory() as folder, open("/dev/full", "wb") as full:
            rows = pathlib.Path(folder, "runs.csv")
            rows.write_text("source,sweep,model,seq,gpu,gpus,tp,pp,dp,mbs,gbs,precision,framework,outcome,step_time_s\n"
                            "here,s,llama-2-7b,4096,a100-80,64,2,1,32,1,512,bf16,megatron,ok,8.0\n")
            database = f"{folder}/sweeps.db"
            server = subprocess.Popen([MESHWRIGHT, "serve", "--db", database, "--listen", "127.0.0.1:0"],
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            server.stdout.readline()
            server.terminate()
            server.communicate(timeout=DEADLINE_S)
            for arguments in (["validate", "--measurements", str(rows), "--format", "json"],
                              ["db", "check", "--db", database]):
                said = subprocess.run([MESHWRIGHT, *arguments], stdout=subprocess.PIPE, timeout=DEADLINE_S).stdout
                self.assertTrue(said, arguments)  # there is something to lose
                self.check(arguments, stdout=full)

    def test_a_closed_output_is_not_taken_by_the_database(self):
        with tempfile.TemporaryDirectory() as folder:
            database = f"{folder}/sweeps.db"
            server = subprocess.Popen([MESHWRIGHT, "serve", "--db", database, "--listen", "127.0.0.1:0"],
                                      stderr=subprocess.PIPE, preexec_fn=lambda: os.close(1))
            try:
                server.communicate(timeout=3)
            except subprocess.TimeoutExpired:
                server.terminate()
                server.communicate(timeout=DEADLINE_S)
            if os.path.exists(database):
                self.assertEqual(pathlib.Path(database).read_bytes()[:15], b"SQLite format 3")

    def test_a_reader_that_had_enough_is_no_failure(self):
        for arguments in COMMANDS:
            with subprocess.Popen([MESHWRIGHT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
                run.stdout.close()
                error = run.stderr.read()
                self.assertEqual((run.wait(timeout=DEADLINE_S), error), (0, b""), arguments)


if __name__ == "__main__":
    MESHWRIGHT = str(pathlib.Path(sys.argv.pop(1)).resolve() / "meshwright")
    unittest.main()
