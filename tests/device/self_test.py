"""The reading of ptxas reports, on reports of known content: it needs no nvcc, so it is checked everywhere."""

import unittest

import check

REPORT = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z7forwardPd' for 'sm_90'
ptxas info    : Function properties for _Z7forwardPd
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 30 registers, used 0 barriers
ptxas info    : Compiling entry function 'adjoint' for 'sm_90'
ptxas info    : Function properties for adjoint
    16 bytes stack frame, 0 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers
ptxas info    : Function properties for not_inlined
    8 bytes stack frame, 4 bytes spill stores, 0 bytes spill loads
"""


class Reports(unittest.TestCase):
    kernels = check.parse(REPORT)

    def test_each_kernel_is_read_with_the_functions_that_it_calls(self):
        self.assertEqual([kernel[1:] for kernel in self.kernels], [(30, 0, 0), (255, 24, 16)])
        self.assertIn("forward", self.kernels[0][0])

    def test_stack_and_spills_are_complaints_without_any_limit(self):
        self.assertEqual(check.complaints(self.kernels[:1], []), [])
        self.assertEqual(check.complaints(self.kernels, []),
                         ["adjoint: 16 bytes spilled; expected none", "adjoint: 24 bytes of stack; expected none"])

    def test_a_limit_holds_for_the_kernels_that_it_names(self):
        forward = self.kernels[:1]
        self.assertEqual(check.complaints(forward, ["forward=30"]), [])
        self.assertRegex(check.complaints(forward, ["forward=29"])[0], "30 registers, expected at most 29")
        self.assertRegex(check.complaints(forward, ["backward=64"])[0], "no kernel has this name")

    def test_stack_and_spills_may_be_allowed_to_a_kernel_by_name(self):
        spills = "adjoint: 16 bytes spilled; expected none"
        self.assertEqual(check.complaints(self.kernels, [], ["adjoint=24"]), [spills])
        self.assertEqual(check.complaints(self.kernels, [], ["adjoint=23"]), [spills, "adjoint: 24 bytes of stack; expected 23"])
        self.assertEqual(check.complaints(self.kernels, [], ["adjoint=24"], ["adjoint=16"]), [])
        self.assertEqual(check.complaints(self.kernels, [], ["adjoint=24"], ["adjoint=15"]), ["adjoint: 16 bytes spilled; expected 15"])
        self.assertRegex(check.complaints(self.kernels[:1], [], ["backward=64"])[0], "no kernel has this name")
        self.assertRegex(check.complaints(self.kernels[:1], [], [], ["backward=64"])[0], "no kernel has this name")

    def test_a_report_without_kernels_is_a_complaint(self):
        self.assertEqual(check.complaints(check.parse(""), []), ["no kernel was compiled"])


unittest.main()
