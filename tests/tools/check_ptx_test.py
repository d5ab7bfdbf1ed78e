#!/usr/bin/env python3
"""Tests of tools/check_ptx on small pieces of PTX."""
import pathlib
import subprocess
import tempfile
import unittest

CHECK_PTX = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_ptx"

KERNEL = """
.version 9.0
.target sm_90
.entry _ZN10meshwright7kernels4cuda10TurnKernelIfLi4EEEvNS0_4RopeE(
	.param .align 8 .b8 param_0[112]
)
{
	.reg .b64 	%%rd<9>;
	.loc	1 11 3
%s
	ret;
}
	.file	1 "kernels/cuda/rope.cu"
	.file	2 "kernels/element.h"
"""


def check(*texts):
    """Returns the exit status and what was printed for files of these texts."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number, text in enumerate(texts):
            files.append(pathlib.Path(folder) / f"{number}.ptx")
            files[-1].write_text(text)
        done = subprocess.run([CHECK_PTX, *files], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout


class CheckPtxTest(unittest.TestCase):
    def expect_clean(self, body):
        self.assertEqual(check(KERNEL % body), (0, ""))

    def expect_problem(self, body, *parts):
        status, printed = check(KERNEL % body)
        self.assertEqual(status, 1)
        self.assertEqual(len(printed.splitlines()), 1, printed)
        for part in parts:
            self.assertIn(part, printed)

    def test_accepts_divisions_of_32_bits_and_of_floating_point(self):
        self.expect_clean("\tdiv.u32 \t%r1, %r2, %r3;\n\tdiv.rn.f64 \t%fd1, %fd2, %fd3;\n"
                          "\tmul.hi.u64 \t%rd1, %rd2, %rd3;")

    def test_accepts_the_devices_own_rounding_to_bf16(self):
        self.expect_clean("\t{  cvt.rn.bf16.f32 %rs2, %f10;}\n\tadd.s32 \t%r1, %r2, 32768;")

    def test_reports_every_kind_of_64_bit_division(self):
        for opcode in ("div.s64", "div.u64", "rem.s64", "rem.u64"):
            self.expect_problem(f"\t{opcode} \t%rd1, %rd2, %rd3;", "64-bit division", opcode)

    def test_reports_a_division_under_a_predicate(self):
        self.expect_problem("\t@%p1 rem.s64 \t%rd1, %rd2, %rd3;", "64-bit division")

    def test_reports_bf16_rounded_in_software(self):
        self.expect_problem("\tadd.s32 \t%r3, %r2, 32767;", "bf16 rounded in software")

    def test_names_the_kernel_and_its_line(self):
        self.expect_problem("\t.loc\t1 15 7\n\t.loc\t1 0 7\n\tdiv.s64 \t%rd1, %rd2, %rd3;",
                            "kernels/cuda/rope.cu:15:", "TurnKernel")

    def test_names_the_line_that_an_inlined_instruction_belongs_to(self):
        self.expect_problem("\t.loc\t2 54 3, function_name $L__info_string0, inlined_at 1 26 7\n"
                            "\tadd.s32 \t%r3, %r2, 32767;", "kernels/cuda/rope.cu:26:")

    def test_reports_a_line_of_a_kernel_once(self):
        self.expect_problem("\tdiv.s64 \t%rd1, %rd2, %rd3;\n\tdiv.s64 \t%rd4, %rd5, %rd6;",
                            "kernels/cuda/rope.cu:11:")

    def test_reads_every_file(self):
        status, printed = check(KERNEL % "", KERNEL % "\tdiv.s64 \t%rd1, %rd2, %rd3;")
        self.assertEqual(status, 1)
        self.assertIn("64-bit division", printed)

    def test_refuses_files_without_a_kernel(self):
        self.assertEqual(check(".version 9.0")[0], 1)
        self.assertEqual(check()[0], 1)


if __name__ == "__main__":
    unittest.main()
