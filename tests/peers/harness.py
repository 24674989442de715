"""The harness of benchmarks/peers, tested with arms that only pretend: no peer is needed, and no network."""

import contextlib
import io
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks/peers"))
import runtime_models  # noqa: E402
from harness import command_line, install, machine, page, readme, tables  # noqa: E402
from harness.arm_process import ArmFailed, ArmProcess  # noqa: E402
from harness.bisection import tune  # noqa: E402
from harness.case import Arm, Case, chosen  # noqa: E402
from harness.errors import misses, relative_error, worst_error  # noqa: E402
from harness.progress import Progress  # noqa: E402
from harness.protocol import Message, parse  # noqa: E402
from harness.race import FEWEST_ROUNDS, Runner, race  # noqa: E402
from harness.result import Row, best  # noqa: E402
from harness.roster import all_cases  # noqa: E402
from harness.suite import Suite  # noqa: E402
from harness.tolerance_file import ToleranceFile  # noqa: E402

FAKE = [sys.executable, "-B", str(Path(__file__).with_name("fake_arm.py"))]


def fake(name="fake", **options):
    return Arm(name, options.pop("peer", name), ("fake",), {key: str(value) for key, value in options.items()})


def case_of(*arms, **changes):
    return Case(**({"key": "9-fake", "title": "Fake", "problem": "none", "task": "adaptive", "unit": "lane", "paragraph": "Nothing.",
                    "arms": arms, "lanes": 4, "quick_lanes": 4, "targets": (1e-6,)} | changes))


class Protocol(unittest.TestCase):
    def test_what_is_said_is_what_is_heard(self):
        message = Message("ready", {"setting": "Tsit5, rtol = 'a b'", "compile": "1.5", "empty": ""})
        self.assertEqual(parse(str(message)), message)
        self.assertEqual(message.number("compile"), 1.5)


class Errors(unittest.TestCase):
    def test_error_is_relative_in_the_norm_of_all(self):
        self.assertAlmostEqual(relative_error([3, 4.5], [3, 4]), 0.1)
        self.assertEqual(relative_error([1, math.nan], [1, 2]), math.inf)
        self.assertRaises(ValueError, relative_error, [1], [1, 2])

    def test_components_of_any_size_may_count_alike(self):
        # (lane, component): the second component is tiny, and wrong by a tenth.
        self.assertAlmostEqual(worst_error([1, 1.1e-9, 1, 1.1e-9], [1, 1e-9, 1, 1e-9], 2), 0.1)
        self.assertLess(relative_error([1, 1.1e-9, 1, 1.1e-9], [1, 1e-9, 1, 1e-9]), 1e-9)
        self.assertEqual(worst_error([1, math.nan], [1, 2], 2), math.inf)
        self.assertRaises(ValueError, worst_error, [1], [1, 2], 1)

    def test_marks_begin_at_a_factor_of_one_and_a_half(self):
        for error in (1e-6, 1.49e-6, 0.67e-6):
            self.assertEqual(misses(error, 1e-6), "")
        self.assertIn("too large", misses(1.51e-6, 1e-6))
        self.assertIn("smaller", misses(0.66e-6, 1e-6))
        self.assertIn("too large", misses(math.inf, 1e-6))
        self.assertIn("too large", misses(math.nan, 1e-6))


class Bisection(unittest.TestCase):
    def check(self, error_of, target, start=None):
        calls = []
        tuned = tune(lambda tolerance: calls.append(tolerance) or error_of(tolerance), target, start)
        self.assertLessEqual(len(calls), 20)
        return tuned

    def test_finds_a_tolerance_whose_error_is_close_to_the_target(self):
        for power in (0.5, 1, 1.3):
            for factor in (1e-2, 1, 30):
                for start in (None, 1e-3, 1e-12):
                    tuned = self.check(lambda tolerance: factor * tolerance ** power, 1e-6, start)
                    self.assertLessEqual(tuned.error, 1e-6)
                    self.assertGreaterEqual(tuned.error, 0.8e-6)
                    self.assertEqual(tuned.error, factor * tuned.tolerance ** power)

    def test_finds_the_largest_tolerance_where_errors_jump(self):
        tuned = self.check(lambda tolerance: 1e-7 if tolerance <= 3e-5 else 1e-5, 1e-6)
        self.assertEqual(tuned.error, 1e-7)
        self.assertGreater(tuned.tolerance, 3e-5 * 10 ** -0.021)

    def test_takes_the_least_error_where_the_target_is_out_of_reach(self):
        tuned = self.check(lambda tolerance: max(3e-9, tolerance), 1e-12)
        self.assertEqual(tuned.error, 3e-9)

    def test_errors_that_are_not_numbers_count_as_too_large(self):
        tuned = self.check(lambda tolerance: math.inf if tolerance > 1e-5 else tolerance, 1e-3)
        self.assertLessEqual(tuned.tolerance, 1e-5)
        self.assertGreater(tuned.tolerance, 0.9e-5)


class Processes(unittest.TestCase):
    def arm(self, timeout=20.0, **options):
        return ArmProcess([*FAKE, *(f"{key}={value}" for key, value in options.items())], [], timeout)

    def test_words_of_libraries_are_skipped(self):
        with self.arm() as arm:
            self.assertEqual(arm.hear().fields["setting"], "a fake")

    def test_an_arm_that_crashes_says_by_which_signal(self):
        with self.arm(ends="crash", runs=0) as arm, self.assertRaisesRegex(ArmFailed, "crashed with signal 11"):
            arm.hear()
            arm.ask("run", repeats=1)

    def test_an_arm_that_cannot_begin_says_its_last_line(self):
        with self.arm(ends="before") as arm, self.assertRaisesRegex(ArmFailed, "ended with code 3: no module named peer"):
            arm.hear()

    def test_an_arm_that_hangs_is_ended(self):
        with self.arm(timeout=5, ends="hang", runs=0) as arm:
            arm.hear()
            arm.timeout, start = 0.3, time.monotonic()
            with self.assertRaisesRegex(ArmFailed, "no answer within 0.3 s"):
                arm.ask("run", repeats=1)
            self.assertLess(time.monotonic() - start, 5)
            self.assertIsNotNone(arm.process.poll())

    def test_an_arm_that_gives_up_says_why(self):
        with self.arm(ends="asks", runs=0) as arm, self.assertRaisesRegex(ArmFailed, "does not want to"):
            arm.hear()
            arm.ask("run", repeats=1)

    def test_a_program_that_is_not_there_is_a_failed_arm(self):
        with self.assertRaisesRegex(ArmFailed, "cannot be started"):
            ArmProcess(["./no such program"], [], 1)

    @unittest.skipUnless(hasattr(os, "sched_getaffinity"), "this system pins nothing")
    def test_an_arm_is_pinned(self):
        core = max(os.sched_getaffinity(0))
        with ArmProcess(FAKE, [core], 20) as arm:
            arm.hear()
            self.assertEqual(os.sched_getaffinity(arm.process.pid), {core})


    @unittest.skipUnless(hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) > 1, "one core only")
    def test_an_arm_moves_with_all_its_threads(self):
        first, last = (f(os.sched_getaffinity(0)) for f in (min, max))
        program = "import threading, time; threading.Thread(target=time.sleep, args=(20,)).start(); print('ready', flush=True)"
        with ArmProcess([sys.executable, "-c", program], [first], 20) as arm:
            arm.hear()
            arm.move_to([last])
            threads = [int(name) for name in os.listdir(f"/proc/{arm.process.pid}/task")]
            self.assertEqual([os.sched_getaffinity(thread) for thread in threads], [{last}, {last}])


class FakeProcess:
    def __init__(self, name, log, seconds=0.01, fails_at=None):
        self.name, self.log, self.seconds, self.fails_at = name, log, seconds, fails_at

    def ask(self, word, repeats):
        self.log.append((self.name, repeats))
        if self.fails_at is not None and sum(name == self.name for name, _ in self.log) > self.fails_at:
            raise ArmFailed("had enough")
        return Message("done", {"processor": str(self.seconds * repeats), "wall": str(2 * self.seconds * repeats)})


class Turns(unittest.TestCase):
    def race(self, rounds=6, **processes):
        log, notes = [], []
        runners = [Runner(name, FakeProcess(name, log, **options), 4) for name, options in processes.items()]
        race(runners, rounds, 0.1, lambda runner, *sample: notes.append((runner.name, *sample)))
        return runners, [name for name, _ in log], notes

    def test_arms_take_turns_and_the_first_changes(self):
        runners, order, _ = self.race(a={}, b={}, c={})
        rounds = [order[i:i + 3] for i in range(3, len(order), 3)]    # after the one that warms up
        self.assertTrue(all(sorted(one) == ["a", "b", "c"] for one in rounds))
        self.assertEqual([one[0] for one in rounds], ["a", "b", "c", "a", "b", "c"])
        self.assertEqual([len(runner.seconds) for runner in runners], [6, 6, 6])

    def test_there_are_at_least_five_rounds(self):
        runners, _, notes = self.race(rounds=1, a={})
        self.assertEqual(len(runners[0].seconds), FEWEST_ROUNDS)
        self.assertEqual(len(notes), FEWEST_ROUNDS)

    def test_short_runs_are_repeated_and_times_are_per_unit_of_work(self):
        runners, _, _ = self.race(a={"seconds": 0.001})
        self.assertEqual(runners[0].repeats, 50)
        self.assertAlmostEqual(runners[0].seconds[0], 0.001 / 4)
        self.assertAlmostEqual(runners[0].wall[0], 0.002 / 4)

    def test_an_arm_that_takes_long_takes_no_more_turns_than_needed(self):
        runners, order, _ = self.race(rounds=9, long={"seconds": 1.0}, short={})
        self.assertEqual([len(runner.seconds) for runner in runners], [FEWEST_ROUNDS, 9])

    def test_an_arm_that_has_run_for_long_before_need_not_warm_up(self):
        log = []
        runner = Runner("a", FakeProcess("a", log, seconds=1.0), 4, before=2.0)
        race([runner], 5, 0.1, lambda *_: None)
        self.assertEqual(len(log), FEWEST_ROUNDS)

    def test_an_arm_that_fails_drops_out_and_the_others_go_on(self):
        runners, order, _ = self.race(a={"fails_at": 3}, b={})
        self.assertEqual(runners[0].failure, "had enough")
        self.assertEqual(order.count("a"), 4)
        self.assertEqual(len(runners[1].seconds), 6)


class WholeCases(unittest.TestCase):
    def run_case(self, case, missing=(), written=None, **options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name, "tolerances.json")
        if written:
            self.file.write_text(json.dumps(written))
        self.samples, self.said, self.started_on = [], io.StringIO(), []

        def start(_, arm, lanes, cores):
            self.started_on.append(cores)
            if arm.name in missing:
                raise ArmFailed("is not installed")
            return ArmProcess([*FAKE, *(f"{key}={value}" for key, value in arm.options.items())], cores, options.get("timeout", 20))

        suite = Suite(start, lambda *_: [3.0, 4.0], ToleranceFile(self.file), self.samples.append, Progress(1, self.said),
                      options.get("cores", 1), rounds=5, places=options.get("places", ([],)))
        suite.run(case)
        self.suite = suite
        return {row.arm: row for row in suite.rows}

    def test_arms_meet_at_the_same_error_and_their_tolerances_are_written_down(self):
        rows = self.run_case(case_of(fake("eddy"), fake("loose", factor=100), fake("strict", power=2)))
        for row in rows.values():
            self.assertEqual((row.mark, row.failure), ("", ""))
            self.assertAlmostEqual(row.error, 0.9e-6, delta=1.1e-7)
            self.assertEqual((row.accepted, row.evaluations, row.compile, row.setting), (10, 61, 0.5, "a fake"))
        self.assertAlmostEqual(rows["loose"].tolerance / 0.9e-8, 1, delta=0.12)
        written = json.loads(self.file.read_text())
        self.assertEqual(len(written), 3)
        self.assertAlmostEqual(written["9-fake | strict | 1e-06"]["tolerance"] / 0.95e-3, 1, delta=0.1)
        self.assertEqual(sum(sample["kind"] == "sample" for sample in self.samples), 15)
        json.dumps(self.samples)

    @unittest.skipUnless(hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) > 1, "one core only")
    def test_arms_start_side_by_side_and_race_on_the_same_cores(self):
        places = tuple([core] for core in sorted(os.sched_getaffinity(0), reverse=True)[:2])
        rows = self.run_case(case_of(fake("eddy"), fake("other"), fake("third")), places=places)
        self.assertEqual(self.started_on[:2], list(places))
        self.assertEqual({row.extra["core"] for row in rows.values()}, {str(places[0][0])})

    def test_a_tolerance_of_the_file_is_taken_while_it_gives_the_error(self):
        key = "9-fake | eddy | 1e-06"
        for tolerance, kept in ((0.9e-6, True), (1e-9, False)):
            rows = self.run_case(case_of(fake("eddy")), written={key: {"tolerance": tolerance, "error": 1e-6}})
            self.assertEqual(rows["eddy"].tolerance == tolerance, kept)
            self.assertEqual(rows["eddy"].mark, "")

    def test_an_arm_that_misses_the_error_is_marked_and_not_compared(self):
        rows = self.run_case(case_of(fake("eddy", seconds=0.002), fake("rough", floor=4e-6)))
        self.assertEqual(rows["rough"].mark, "error 4 × too large")
        table = tables.table(case_of(), list(rows.values()), 1)
        self.assertRegex(table, r"rough.*4 × too large")
        self.assertIs(best(list(rows.values())), rows["eddy"])

    def test_an_arm_that_misses_the_error_as_the_file_says_is_not_searched_again(self):
        key = "9-fake | eddy | 1e-06"
        for error, fewest, most in ((4e-6, 0, 8), (3e-6, 12, 40)):
            rows = self.run_case(case_of(fake("eddy", floor=4e-6)), written={key: {"tolerance": 1e-7, "error": error}})
            self.assertTrue(fewest <= int(rows["eddy"].extra["number"]) <= most, rows["eddy"].extra)
            self.assertRegex(rows["eddy"].mark, "4 × too large")

    def test_where_the_work_is_given_larger_errors_are_marked_and_smaller_ones_not(self):
        arms = [fake("eddy", factor=1e-13, power=0), fake("near", factor=1.4e-12, power=0), fake("far", factor=2e-12, power=0)]
        rows = self.run_case(case_of(*arms, targets=(), same_error=1e-12))
        self.assertEqual([rows[name].mark for name in ("eddy", "near", "far")], ["", "", "error 2 × too large"])

    def test_arms_of_few_lanes_are_looked_at_in_those(self):
        # Of the reference's two lanes the slow arm runs the first, and its work is one lane.
        case = case_of(fake("eddy"), fake("slow", writes=1), lanes=8, check=2, by_component=True)
        case = replace(case, arms=(case.arms[0], replace(case.arms[1], few=1)))
        rows = self.run_case(case)
        self.assertEqual([rows[name].mark + rows[name].failure for name in rows], ["", ""])
        self.assertEqual((rows["eddy"].stride, rows["slow"].stride), (1, 8))
        self.assertAlmostEqual(rows["slow"].median, 8 * rows["eddy"].median)
        self.assertEqual(case.arms[1].looked_at(case, 8), 1)

    def test_missing_crashing_and_hanging_peers_are_lines_of_the_table(self):
        arms = [fake("eddy"), fake("absent"), fake("crashes", ends="crash", runs=5), fake("hangs", ends="hang", runs=0),
                fake("never began", ends="before"), fake("good")]
        rows = self.run_case(case_of(*arms), missing={"absent"}, timeout=2)
        self.assertEqual(rows["absent"].failure, "is not installed")
        self.assertEqual(rows["crashes"].failure, "crashed with signal 11")
        self.assertEqual(rows["hangs"].failure, "no answer within 2 s")
        self.assertIn("ended with code 3", rows["never began"].failure)
        self.assertTrue(rows["eddy"].is_comparable and rows["good"].is_comparable)
        table = tables.table(case_of(), list(rows.values()), 1)
        for words in ("is not installed", "crashed with signal 11", "no answer within 2 s", "| good |"):
            self.assertIn(words, table)

    def test_one_core_is_timed_by_the_processor_and_more_or_a_gpu_by_the_wall(self):
        case = case_of(fake("eddy", waits=4), fake("on a GPU", waits=4, device="gpu"))
        for cores, ratio in ((1, 1), (2, 4)):
            rows = self.run_case(case, cores=cores)
            self.assertAlmostEqual(rows["eddy"].median, ratio * 0.001 / 4)
            self.assertAlmostEqual(rows["on a GPU"].median, 4 * 0.001 / 4)
            self.assertFalse(rows["on a GPU"].wall_over_processor > 0)    # it says nothing of how busy the machine is

    def test_a_case_without_a_reference_is_a_line_too(self):
        def fails(*_):
            raise ArmFailed("no NumPy")
        suite = Suite(lambda *_: self.fail("started"), fails, ToleranceFile(Path("none")), self.fail, Progress(1, io.StringIO()))
        suite.run(case_of(fake("eddy")))
        self.assertEqual(suite.rows[0].failure, "no reference: no NumPy")


class Pages(unittest.TestCase):
    def rows(self):
        return [Row("9-fake", "eddy, a", "eddy", 1e-6, 1e-7, 1e-6, minimum=2e-6, median=2.1e-6, accepted=10, evaluations=61),
                Row("9-fake", "peer | one", "peer", 1e-6, 1e-7, 1e-6, minimum=1e-6, median=1.05e-6, accepted=8, evaluations=50)]

    def test_ratios_are_to_the_fastest_arm_of_eddy(self):
        table = tables.table(case_of(), self.rows(), 1)
        self.assertRegex(table, r"eddy, a.*\| 1\.00 \|")
        self.assertRegex(table, r"peer \\\| one.*\| 0\.50 \|")

    def test_a_case_that_eddy_loses_says_so(self):
        self.assertIn("peer | one is 2.00 times as fast as eddy", tables.verdict(self.rows()))
        self.assertIn("2.10 times", tables.verdict([*self.rows()[:1], Row("9-fake", "slow", "slow", 1e-6, minimum=4e-6, median=4.41e-6)]))

    def test_the_page_holds_every_case_and_the_machine(self):
        text = page.page([case_of()], self.rows(), {"processor": "a fast one"}, "run --quick", {}, 1)
        for words in ("## 9. Fake", "Nothing.", "a fast one", "run --quick", "eddy, a"):
            self.assertIn(words, text)

    def test_the_readme_says_where_eddy_leads_and_where_not(self):
        other = case_of(key="8-other", title="Other")
        slower = [Row("8-other", "eddy, b", "eddy", 1e-6, minimum=1e-6, median=1e-6), Row("8-other", "slow", "slow", 1e-6, minimum=5e-6, median=5e-6)]
        text = readme.lines([case_of(), other], self.rows() + slower)
        self.assertIn("best peer in 1 of 2 comparisons", text)
        self.assertIn("slower in Fake: peer | one takes 0.50 of eddy's time", text)
        latency = [Row("10a-latency", name, name, 1e-6, minimum=time, median=time) for name, time in (("eddy", 1e-6), ("odeint", 1.5e-6))]
        self.assertIn("| one trajectory, one call | 1.5 (odeint) |", readme.lines([case_of(key="10a-latency")], latency))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "README.md")
            file.write_text(f"before\n{readme.BEGIN}\nold\n{readme.END}\nafter\n")
            self.assertTrue(readme.write(file, text))
            self.assertEqual(file.read_text(), f"before\n{readme.BEGIN}\n{text}\n{readme.END}\nafter\n")
            file.write_text("no marks")
            self.assertFalse(readme.write(file, text))

    def test_rows_come_back_from_their_records(self):
        for row in [*self.rows(), Row("9-fake", "absent", "absent", failure="is not installed")]:
            again = Row.from_record(json.loads(json.dumps(row.as_record())))
            self.assertEqual(again.as_record(), row.as_record())
            self.assertEqual(again.is_comparable, row.is_comparable)

    def test_a_page_is_written_again_from_samples(self):
        with tempfile.TemporaryDirectory() as folder:
            case = command_line.all_cases(1)[0]
            row = Row(case.key, "eddy Tsit5", "eddy", error=1e-13, minimum=1e-9, median=2e-9)
            records = [{"kind": "machine", "command": "run", "processor": "a fast one"}, row.as_record()]
            Path(folder, "samples.jsonl").write_text("\n".join(json.dumps(record) for record in records))
            run = command_line.Run(command_line.arguments(["--from", folder, "--output", folder]), "again")
            run.write_again()
            text = Path(folder, "benchmarks.md").read_text()
            self.assertIn("| eddy Tsit5 | 2 |", text)
            self.assertIn("a fast one", text)

    def test_a_run_on_a_busy_machine_says_so(self):
        rows = self.rows()
        for row in rows:
            row.wall_over_processor = 1.6
        self.assertIn("busy with other work", page.page([case_of()], rows, {}, "run", {}, 1))

    def test_a_case_that_ran_on_a_busy_machine_says_so(self):
        case, quiet = case_of(), replace(case_of(), key="2-other")
        rows = [replace(row, case=key, wall_over_processor=ratio) for key, ratio in ((case.key, 1.6), (quiet.key, 1.0), (quiet.key, 1.0))
                for row in self.rows()]
        text = page.page([case, quiet], rows, {}, "run", {}, 1)
        self.assertEqual(text.count("busy with other work"), 1)
        self.assertLess(text.index("busy with other work"), text.index(f"## {quiet.number}. "))
        self.assertIn(f"cases {case.number} were run on a machine busy", readme.lines([case, quiet], rows))


class RuntimeModels(unittest.TestCase):
    def table(self, part, **of_peers):
        bench = runtime_models.Bench(Path(), Path(), 1e-6, 5)

        def start(name, *_, **__):
            process = ArmProcess([*FAKE, *of_peers.get(name, [])], [], 5)
            process.hear()
            return process
        bench.start = start
        with contextlib.redirect_stdout(io.StringIO()) as told, contextlib.redirect_stderr(io.StringIO()):
            getattr(bench, part)("lotka")
        return told.getvalue()

    def test_times_are_told_as_multiples_of_eddys(self):
        text = self.table("solves", diffsol=["seconds=0.003", "factor=10"])
        self.assertIn("| text to first value, ms | eddy 1 | diffsol 3: 3 × |", text)
        self.assertEqual(text.count(" 3 × |") + text.count(" 192 × |"), 4)    # diffsol runs one of 64 of many trajectories

    def test_who_computes_something_else_is_not_compared(self):
        text = self.table("functions", casadi=["factor=2"])
        self.assertIn("| heyoka 61: 1 × | casadi has other values |", text)


class Commands(unittest.TestCase):
    """The whole command but for installing and building, with arms that pretend."""

    def run_command(self, *words, gpus=()):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.output, self.started = Path(folder.name), []
        with unittest.mock.patch.object(machine, "gpus", lambda: list(gpus)):
            run = command_line.Run(command_line.arguments([*words, "--quick", "--output", folder.name, "--timeout", "5"]), "run")

            def start(case, arm, lanes, cores):
                self.started.append(arm)
                if arm.peer == "heyoka":
                    raise ArmFailed("cannot be installed: no network")
                options = {"diffrax": ["ends=crash", "runs=3"], "jax": ["ends=hang", "runs=0"]}.get(arm.peer, [])
                return ArmProcess([*FAKE, *options], cores, 1)

            run.start, run.reference, run.machine = start, lambda *_: [3.0, 4.0], lambda: {"processor": "none", "GPU": "none"}
            with unittest.mock.patch.object(command_line, "ToleranceFile", lambda _: ToleranceFile(self.output / "tolerances.json")), \
                    contextlib.redirect_stderr(io.StringIO()):
                run.measure()
        return run, (self.output / "benchmarks.md").read_text()

    def test_peers_that_fail_are_lines_of_the_page_and_the_run_goes_on(self):
        _, text = self.run_command("--only", "10a", "7")
        for words in ("| heyoka, batches | cannot be installed: no network |", "| diffrax Tsit5 | crashed with signal 11 |", "| numbalsoda DOP853 |",
                      "## 7. Van der Pol", "## 10a. Latency"):
            self.assertIn(words, text)
        records = [json.loads(line) for line in (self.output / "samples.jsonl").read_text().splitlines()]
        self.assertEqual({record["kind"] for record in records}, {"machine", "sample", "row"})

    def test_where_there_is_a_gpu_its_arms_run_too(self):
        run, text = self.run_command("--only", "1", "torchdiffeq", "jax", gpus=["a GPU"])
        self.assertEqual({arm.name for arm in self.started if arm.on_gpu},
                         {"flat JAX Tsit5, GPU", "torchdiffeq dopri5, eager, GPU", "torchdiffeq dopri5, compiled, GPU", "eddy Tsit5, GPU"})
        self.assertIn("| torchdiffeq dopri5, eager, GPU |", text)
        self.assertIn("for arms on a GPU that of the wall", text)
        self.assertEqual(run.environment.folder.name, "venv_gpu")
        self.run_command("--only", "1", "torchdiffeq")
        self.assertFalse(any(arm.on_gpu for arm in self.started))

    @unittest.skipUnless(hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) > 1, "one core only")
    def test_cores_says_how_many_an_arm_has_and_is_told(self):
        run, text = self.run_command("--only", "10a", "scipy", "--cores", "2")
        self.assertEqual(run.places[0], sorted(os.sched_getaffinity(0))[-2:])
        self.assertIn("pinned to 2 cores", text)
        self.assertIn("(2 cores, wall)", text)

    def test_an_arm_is_started_on_the_device_that_it_names(self):
        with unittest.mock.patch.object(machine, "gpus", lambda: ["a GPU"]), \
                unittest.mock.patch.object(command_line, "ArmProcess", lambda *words: words):
            run = command_line.Run(command_line.arguments(["--only", "1", "jax"]), "run")
            platforms = {arm.name: run.start(run.cases[0], arm, 4, [])[3]["JAX_PLATFORMS"] for arm in run.cases[0].arms if arm.peer == "jax"}
        self.assertEqual(platforms, {"flat JAX Tsit5": "cpu", "flat JAX Tsit5, GPU": "cuda"})


class Installing(unittest.TestCase):
    def commands(self, has_gpu, fails=()):
        """What is run to provide JAX and torch; commands that name something in `fails` fail."""
        said = []

        def pretend(command, timeout=600):
            said.append(" ".join(command))
            return subprocess.CompletedProcess(command, int(any(word in said[-1] for word in fails)), "", "an error")
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(install, "_run", pretend):
            environment = install.Environment(Path(folder), has_gpu)
            environment.prepare(lambda _: None, {"jax", "torch"})
        return said, environment.missing

    def test_wheels_are_those_of_the_processor_or_of_the_gpu(self):
        for_cpu, _ = self.commands(False)
        self.assertFalse(any("cuda" in command for command in for_cpu))
        self.assertTrue(any(install.TORCH_FOR_CPU in command for command in for_cpu))
        for_gpu, missing = self.commands(True)
        self.assertTrue(any("jax[cuda13]" in command for command in for_gpu))
        self.assertFalse(any(install.TORCH_FOR_CPU in command for command in for_gpu))
        self.assertEqual(missing, {})

    def test_a_peer_that_cannot_be_had_is_missing_and_no_more(self):
        _, missing = self.commands(False, fails=["--disable-pip-version-check jax"])
        self.assertEqual(missing, {"jax": "cannot be installed: an error"})
        _, missing = self.commands(False, fails=["import torch"])
        self.assertEqual(missing, {"torch": "is installed and does not work: an error"})
        _, missing = self.commands(False, fails=["-m venv"])
        self.assertIn("no virtual environment", missing["torch"])


class Choices(unittest.TestCase):
    def test_the_command_line_knows_its_words(self):
        given = command_line.arguments(["--only", "2", "heyoka", "--quick", "--seed", "7"])
        self.assertEqual((given.only, given.quick, given.seed, given.cores, given.write_docs), (["2", "heyoka"], True, 7, 1, False))
        with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.redirect_stderr(nowhere):
            self.assertRaises(SystemExit, command_line.arguments, ["--cores", "100000"])
            self.assertRaises(SystemExit, command_line.arguments, ["--write-docs", "--only", "2"])
        self.assertTrue(command_line.arguments(["--write-docs", "--only", "2", "--from", "earlier"]).write_docs)

    def test_a_peer_that_was_not_installed_or_built_is_an_arm_that_fails(self):
        run = command_line.Run(command_line.arguments(["--only", "2"]), "run")
        run.environment.missing, run.native.missing = {"jax": "cannot be installed: no network"}, {"odeint_arm": "cannot be built: error"}
        for arm in run.cases[0].arms:
            if arm.peer in ("jax", "diffrax"):
                self.assertRaisesRegex(ArmFailed, "no network", run.start, run.cases[0], arm, 4, [])
            if arm.peer == "odeint":
                self.assertRaisesRegex(ArmFailed, "cannot be built", run.start, run.cases[0], arm, 4, [])

    def test_a_reference_is_asked_for_once(self):
        run = command_line.Run(command_line.arguments(["--only", "2"]), "run")
        asked = []
        run._ask_for_reference = lambda case, lanes: asked.append(lanes) or [1.0]
        self.assertEqual([run.reference(run.cases[0], lanes) for lanes in (4, 4, 8)], [[1.0]] * 3)
        self.assertEqual(asked, [4, 8])

    def test_the_machine_describes_itself(self):
        self.assertIn("cores", machine.describe({}, 1))

    def test_the_command_that_is_shown_has_no_folder_of_this_machine(self):
        self.assertEqual(command_line.shown_command(["--only", "8", "9", "--no-install", "--output", "/there", "--quick", "--output=here"]),
                         "benchmarks/peers/run --only 8 9 --quick")

    def test_only_takes_numbers_keys_and_peers(self):
        cases = all_cases(seed=1)
        self.assertEqual([case.number for case in chosen(cases, ["2", "3"])], ["2", "3"])
        self.assertEqual([case.number for case in chosen(cases, ["10", "R"])], ["10a", "10b", "R1", "R2", "R3"])
        kept = chosen(cases, ["2", "heyoka"])
        self.assertEqual({arm.peer for arm in kept[0].arms}, {"eddy", "heyoka"})
        self.assertRaisesRegex(ValueError, "no case and no peer is called 99", chosen, cases, ["99"])

    def test_random_cases_come_from_the_seed(self):
        def drawn(seed):
            return [case.options for case in all_cases(seed) if case.number.startswith("R")]
        self.assertEqual(len(drawn(1)), 3)
        self.assertEqual(drawn(1), drawn(1))
        self.assertNotEqual(drawn(1), drawn(2))

    def test_arms_have_names_of_their_own_and_strides_that_divide(self):
        for case in all_cases(1):
            names = [arm.name for arm in case.arms]
            self.assertEqual(len(names), len(set(names)))
            self.assertIn("eddy", {arm.peer for arm in case.arms})
            for lanes in (case.lanes, case.quick_lanes):
                spacing = lanes // min(lanes, case.check)
                self.assertEqual(lanes % min(lanes, case.check), 0, case.key)
                for arm in case.arms:
                    self.assertEqual(min(lanes, case.check) % arm.looked_at(case, lanes), 0, (case.key, arm.name))
                    self.assertEqual(spacing % min(arm.stride, spacing), 0, (case.key, arm.name))


if __name__ == "__main__":
    unittest.main()
