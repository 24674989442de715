"""The reading of ptxas reports and of machine code, and the model of a processor, on text of known content: it needs no nvcc, so it is checked
everywhere."""

import unittest

import attribution
import check
import hot_path
import model

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


# A loop of a load, an addition that waits for it, a vote that a diverged warp would take elsewhere, and a branch back.
LOOP = """\
.L_x_1:
        //## File "/somewhere/group_checkpoints.hpp", line 7 inlined at "/somewhere/sweeps.hpp", line 3
        //## File "/somewhere/sweeps.hpp", line 3
        /*0000*/                   LD.E.64 R2, desc[UR4][R4.64] ;  /* 0x0000000000000000 */
                                                                   /* 0x000e820000000000 */
        //## File "/somewhere/explicit_rk.hpp", line 9
        /*0010*/                   DADD R6, R2, R2 ;               /* 0x0000000000000000 */
                                                                   /* 0x004fc80000000000 */
        /*0020*/                   BRA.DIV UR4, `(.L_x_2) ;        /* 0x0000000000000000 */
                                                                   /* 0x000fe20000000000 */
        /*0030*/              @P0  BRA `(.L_x_1) ;                 /* 0x0000000000000000 */
                                                                   /* 0x000fe20000000000 */
        /*0040*/                   EXIT ;                          /* 0x0000000000000000 */
                                                                   /* 0x000fe20000000000 */
.L_x_2:
        /*0050*/                   BRA `(.L_x_1) ;                 /* 0x0000000000000000 */
                                                                   /* 0x000fe20000000000 */
""".splitlines()


class MachineCode(unittest.TestCase):
    (counts, path), = hot_path.rounds(hot_path.blocks_of(LOOP), least_floats=1)

    def test_a_round_is_the_way_of_a_whole_warp(self):
        self.assertEqual([one.text.split()[0] for one in self.path], ["LD.E.64", "DADD", "BRA.DIV", "@P0"])
        self.assertEqual((self.counts["instructions"], self.counts["floats"], self.counts["global"]), (4, 1, 1))

    def test_states_are_told_by_where_they_are_read(self):
        self.assertEqual([one.streams() for one in self.path], [True, False, False, False])
        self.assertEqual(self.path[0].bytes(), 32 * 8)
        self.assertEqual(attribution.table(self.path)["states and log"], [1, 0, 0])
        self.assertEqual(attribution.table(self.path)["the step, its stages and its pullback"], [3, 1, 0])

    def test_what_waits_for_a_scoreboard_waits_as_long_as_a_load_takes(self):
        load, add, *_ = self.path
        self.assertEqual((load.sets, add.waits), ((2,), 0b100))
        near, far = (model.cycles(self.path, 1, model.Machine(global_latency=latency)) for latency in (100, 300))
        self.assertAlmostEqual(far - near, 200)
        self.assertLess(model.cycles(self.path, 4) / 4, 0.3 * model.cycles(self.path, 1))

    def test_the_model_bounds_itself(self):
        self.assertEqual(list(model.contradictions("loop", self.path)), [])
        impossible = [model.Instruction(kind + " R1", 1, (), 0) for kind in ("STL", "LDL")]
        self.assertRegex(list(model.contradictions("loop", impossible))[-1], "neither reads nor writes")

    def test_what_is_read_is_waited_for_and_what_is_written_is_not(self):
        read, written = (model.Instruction(kind, 1, (0,), 0, ("group_checkpoints.hpp",)) for kind in ("LD.E R1", "ST.E R1"))
        self.assertGreater(read.latency(model.Machine()), 10 * written.latency(model.Machine()))

    def test_the_last_groups_share_a_processor_with_fewer(self):
        machine = model.Machine(processors=1, gigahertz=1e-6)
        time = lambda warps: model.call_time((10, 6), model.Work(warps, 8, 100, 50, 0, (4,)), machine)
        self.assertEqual(time(8), 100 * 2 * 6 + 50)
        self.assertEqual(time(12), time(8) + 100 * 10 + 50)
        self.assertEqual(time(64), 4 * 2 * time(8))


class LimitsOfRounds(unittest.TestCase):
    loops = [{"instructions": 100, "double": 3}]

    def broken(self, limit):
        return list(hot_path.limits_broken("_Z5solvev", self.loops, [limit]))

    def test_all_instructions_or_one_kind_of_them(self):
        self.assertEqual(self.broken("solve:0=100"), [])
        self.assertEqual(self.broken("solve:0.double=3"), [])
        self.assertEqual(self.broken("solve:0=99"), ["solve, loop 0, instructions of a round: 100; expected at most 99"])
        self.assertEqual(self.broken("solve:0.double=0"), ["solve, loop 0, double of a round: 3; expected at most 0"])

    def test_a_loop_that_is_not_there(self):
        self.assertEqual(self.broken("solve:1=99"), ["solve, loop 1, instructions of a round: no such loop; expected at most 99"])
        self.assertEqual(self.broken("gradient:1=99"), [])


unittest.main()
