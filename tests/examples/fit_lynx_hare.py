"""Runs examples/fit_lynx_hare: `fit_lynx_hare.py PROGRAM`. The fit is compared with one by other means, and each way in which
a user's file or command can be wrong with the words and the exit code that it must bring.
"""

import csv
import os
import re
import resource
import signal
import subprocess
import unittest
from pathlib import Path

from example_case import PROGRAM, ExampleCase

# SciPy 1.17: DOP853 with the variational equations at rtol 1e-12, then MINPACK's lmder through least_squares.
SUM_OF_SQUARES = "2.0186612"
VALUES = {"a": 0.5401589922, "b": 0.0271653572, "c": 0.7963860432, "d": 0.0236946384, "hare0": 34.6024244035, "lynx0": 5.8445061397}
ERRORS = {"a": 0.05948867, "b": 0.00384304, "c": 0.08385637, "d": 0.00328603, "hare0": 2.92940814, "lynx0": 0.47930028}

GOOD = ["year,lynx,hare", "1900,4.0,30.0", "1901,6.1,47.2", "1902,9.8,70.2", "1903,35.2,77.4", "1904,59.4,36.3", "1905,41.7,20.6"]


def with_line(number, text):
    lines = list(GOOD)
    lines[number - 1] = text
    return lines


class Example(ExampleCase):
    def counts(self, lines, name="counts.csv", end="\n"):
        (self.folder / name).write_bytes("".join(line + end for line in lines).encode())
        return name

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())


class Fit(Example):
    def test_the_pelts_give_the_known_optimum(self):
        done = self.run_program("--quick", "--output", "results")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(f"sum of squares: {SUM_OF_SQUARES},", done.stdout)
        for name, value in VALUES.items():
            fitted, error = re.search(rf"^  {name} +(\S+) +(\S+)$", done.stdout, re.MULTILINE).groups()
            self.assertEqual(float(fitted), float(f"{value:.8g}"))
            self.assertEqual(float(error), float(f"{ERRORS[name]:.3g}"))
        self.check_gradients(done.stdout)
        self.check_curves()

    def check_gradients(self, output):
        norms = re.search(r"gradient: norm (\S+) by forward mode, (\S+) by reverse mode", output).groups()
        for norm in norms:
            self.assertLess(float(norm), 1e-9)  # of a sum of 2, where the starts have hundreds
        disagreement = re.search(r"reverse mode is forward mode within (\S+) at 64 of them", output)[1]
        self.assertLess(float(disagreement), 1e-10)

    def curves_of_the_pelts(self):
        """Those of test_the_pelts_give_the_known_optimum, computed where there are none yet."""
        file = self.folder / "results/lynx_hare.csv"
        if not file.exists():
            self.run_program("--quick", "--output", "results", check=True)
        lines = file.read_text(encoding="utf-8").splitlines()[1:]
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(lines)]

    def check_curves(self):
        rows = self.curves_of_the_pelts()
        self.assertEqual((rows[0]["year"], rows[-1]["year"]), (1900, 1920))
        self.assertAlmostEqual(rows[0]["hare"], VALUES["hare0"], places=6)
        self.assertAlmostEqual(rows[0]["lynx"], VALUES["lynx0"], places=6)
        for row in rows:
            for name in ("hare", "lynx"):
                self.assertLess(0, row[name + "_low"])
                self.assertLess(row[name + "_low"], row[name])
                self.assertLess(row[name], row[name + "_high"])

    def test_without_gnuplot_everything_but_the_picture_is_there(self):
        self.counts(GOOD)
        done = self.run_program("--starts", "8", "counts.csv", env={**os.environ, "PATH": str(self.folder)})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("there is no gnuplot: install gnuplot-nox", done.stdout)
        self.assertEqual(self.files(), ["counts.csv", "lynx_hare.csv", "lynx_hare.gp"])

    def test_gnuplot_draws_from_the_files_that_are_left(self):
        self.counts(GOOD)
        gnuplot = self.folder / "gnuplot"
        environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"}
        for script, files in (("cat $1 lynx_hare.csv > lynx_hare.png", ["csv", "gp", "png"]), ("exit 1", ["csv", "gp"])):
            with self.subTest(script):
                gnuplot.write_text(f"#!/bin/sh\n[ $LC_ALL = C.UTF-8 ] || exit 1\n{script}\n")
                gnuplot.chmod(0o755)
                done = self.run_program("--starts", "8", "--output", "results", "counts.csv", env=environment)
                self.assertEqual(done.returncode, 0, done.stderr)
                found = sorted(path.name for path in (self.folder / "results").iterdir())
                self.assertEqual(found, [f"lynx_hare.{ending}" for ending in files])
                (self.folder / "results/lynx_hare.png").unlink(missing_ok=True)

    def test_results_replace_those_of_before_and_nothing_else(self):
        self.counts(GOOD)
        (self.folder / "lynx_hare.csv").write_text("old")
        os.link(self.folder / "lynx_hare.csv", self.folder / "other_name")
        self.assertEqual(self.run_program("--starts", "8", "counts.csv").returncode, 0)
        self.assertEqual((self.folder / "other_name").read_text(), "old")
        self.assertTrue((self.folder / "lynx_hare.csv").read_text().startswith("# the best fit"))
        self.assertEqual([name for name in self.files() if name.startswith(".")], [])

    @unittest.skipUnless(Path("/dev/full").exists(), "no /dev/full here")
    def test_words_that_nobody_can_read_are_a_failure(self):
        for arguments in (["--starts", "8", self.counts(GOOD)], ["--help"]):
            with self.subTest(arguments), open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([PROGRAM, *arguments], cwd=self.folder, stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual((done.returncode, done.stderr), (1, "standard output: cannot be written; is there space?\n"))

    def test_a_disk_without_space_leaves_no_half_of_a_file(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        self.counts(GOOD)
        done = self.run_program("--starts", "8", "counts.csv", preexec_fn=lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN), limit()))
        self.assertEqual((done.returncode, done.stderr), (1, "fit_lynx_hare: ./lynx_hare.csv: cannot be written; is there space?\n"))
        self.assertEqual(self.files(), ["counts.csv"])

    def test_columns_in_any_order_case_and_company(self):
        plain = self.run_program("--quick", self.counts(GOOD))
        lines = ["# counts", '"Hare", note, "Year", LYNX', ""]
        for line in GOOD[1:]:
            year, lynx, hare = line.split(",")
            lines.append(f"+{hare},some words,{year} , {lynx}")
        dressed = self.run_program("--quick", self.counts(["\ufeff" + lines[0], *lines[1:]], "dressed.csv", "\r\n"))
        self.assertEqual((plain.returncode, dressed.returncode), (0, 0), dressed.stderr)
        fit = lambda output: re.search(r"^fit:.*?gradient", output, re.DOTALL | re.MULTILINE)[0]
        self.assertEqual(fit(plain.stdout), fit(dressed.stdout))

    def test_data_that_do_not_determine_all_unknowns_are_told(self):
        rows = [f"{year},5,10" for year in range(1900, 1908)]  # at rest, at whatever speed
        done = self.run_program("--quick", self.counts(["year,lynx,hare", *rows]))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no standard errors: the data do not determine all six", done.stdout)

    def test_counts_of_the_model_itself_give_its_rates_back(self):
        rows = self.curves_of_the_pelts()[::40]
        lines = ["year,hare,lynx", *(f"{row['year']},{row['hare']},{row['lynx']}" for row in rows)]
        done = self.run_program("--quick", self.counts(lines))
        self.assertEqual(done.returncode, 0, done.stderr)
        for name, value in VALUES.items():
            fitted = re.search(rf"^  {name} +(\S+)", done.stdout, re.MULTILINE)[1]
            self.assertAlmostEqual(float(fitted) / value, 1, places=7)

    def test_counts_beyond_all_reason_end_without_a_fit(self):
        rows = ["1,1e300,1e-300", "2,2e300,1e-299", "3,1e299,5e-300", "4,1e300,1e-300"]
        done = self.run_program("--quick", self.counts(["year,hare,lynx", *rows]))
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "no start ended at an optimum; try more of them with --starts\n")

    def test_a_search_that_goes_on_forever_is_told(self):
        rows = ["1900,1,10", "1901,1,10", "1902,1,10", "1903,100,10", "1904,1,10", "1905,1,10"]  # ever faster lynxes
        done = self.run_program("--quick", self.counts(["year,lynx,hare", *rows]))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("this is not zero", done.stdout)


    def test_interrupted_on_a_terminal_it_goes_on_with_what_is_done(self):
        with self.interrupted_on_a_terminal("--starts", "5000") as running:
            output = running.stdout.read()
        self.assertEqual(running.returncode, 0)
        done, rest = re.search(r"^refined: (\d+) .*\n.*\n  stopped before the other (\d+)$", output, re.MULTILINE).groups()
        self.assertEqual(int(done) + int(rest), 5000)
        self.assertIn("lynx_hare.csv", self.files())


class Refusals(Example):
    def check_refused(self, arguments, message):
        before = self.files()
        done = self.run_program(*arguments)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr, message + "\n")
        self.assertEqual(done.stdout, "")
        self.assertEqual(self.files(), before)

    def check_bad_counts(self, lines, message):
        self.check_refused([self.counts(lines)], message)

    def test_no_such_file(self):
        self.check_refused(["pelts.csv"], "pelts.csv: there is no such file; give a CSV with the columns year, hare and lynx")

    def test_a_folder(self):
        self.check_refused(["."], ".: this is not a file that can be read; give a CSV file")

    def test_an_empty_file(self):
        self.check_bad_counts([], "counts.csv: nothing is in it; begin with the line year,hare,lynx")

    def test_a_missing_column(self):
        self.check_bad_counts(
            with_line(1, "year,lynx,rabbit"),
            "counts.csv:1: no column 'hare' among 'year', 'lynx', 'rabbit'; "
            "the first line must name year, hare and lynx, with commas between")

    def test_other_separators(self):
        self.check_bad_counts(
            ["# by hand", "year;lynx;hare", "1900;4,0;30,0"],
            "counts.csv:2: no column 'year' among 'year;lynx;hare'; "
            "the first line must name year, hare and lynx, with commas between")

    def test_a_column_twice(self):
        self.check_bad_counts(with_line(1, "year,lynx,hare,Hare"),
                              "counts.csv:1: two columns 'hare' in 'year', 'lynx', 'hare', 'Hare'; name each column once")

    def test_a_negative_count(self):
        self.check_bad_counts(with_line(4, "1902,-9.8,70.2"),
                              "counts.csv:4: lynx is '-9.8'; counts must be above zero, for their logarithms are fitted")

    def test_a_count_of_zero(self):
        self.check_bad_counts(with_line(4, "1902,9.8,0"),
                              "counts.csv:4: hare is '0'; counts must be above zero, for their logarithms are fitted")

    def test_a_word_for_a_number(self):
        self.check_bad_counts(with_line(3, "1901,many,47.2"),
                              "counts.csv:3: lynx is 'many'; write a number, with a point before its decimals")

    def test_a_number_and_more(self):
        self.check_bad_counts(with_line(3, "1901,6.1 k,47.2"),
                              "counts.csv:3: lynx is '6.1 k'; write a number, with a point before its decimals")

    def test_not_a_number(self):
        self.check_bad_counts(with_line(3, "1901,nan,47.2"), "counts.csv:3: lynx is 'nan'; write a finite number")

    def test_an_empty_field(self):
        self.check_bad_counts(with_line(3, "1901,,47.2"), "counts.csv:3: no lynx; write a number, or remove the row")

    def test_a_field_too_few(self):
        self.check_bad_counts(with_line(3, "1901,6.1"), "counts.csv:3: 2 fields under 3 columns; write one field for each column")

    def test_years_out_of_order(self):
        self.check_bad_counts(
            with_line(4, "1899,9.8,70.2"),
            "counts.csv:4: year '1899' does not come after the row above; sort the rows by year, and give no time twice")

    def test_a_year_twice(self):
        self.check_bad_counts(
            with_line(4, "1901,9.8,70.2"),
            "counts.csv:4: year '1901' does not come after the row above; sort the rows by year, and give no time twice")

    def test_too_few_rows(self):
        self.check_bad_counts(GOOD[:4], "counts.csv:4: 3 rows of counts; six unknowns are fitted, give at least 4")

    def test_too_many_rows(self):
        rows = [f"{year},5.5,10.5" for year in range(1, 1002)]
        self.check_bad_counts(["year,lynx,hare", *rows],
                              "counts.csv:1002: more than 1000 rows of counts; every start is solved through all of them: give fewer")

    def test_a_line_without_an_end(self):
        with open(self.folder / self.counts(GOOD), "ab") as file:
            file.truncate(1 << 30)  # a gigabyte of zeros in one line, which take no room on most disks
        self.check_refused(["counts.csv"], "counts.csv: there is more than 1048576 bytes in it; give a CSV of at most 1000 rows")

    @unittest.skipUnless(Path("/proc/self/mem").exists(), "no /proc here")
    def test_a_file_that_fails_while_it_is_read(self):
        self.check_refused(["/proc/self/mem"], "/proc/self/mem: reading it failed; copy the file to a disk that works")

    def test_bytes_that_a_terminal_would_obey(self):
        self.check_bad_counts(with_line(3, "1901,\x1b[2J\x07,47.2"),
                              "counts.csv:3: lynx is '\\x1b[2J\\x07'; write a number, with a point before its decimals")
        self.check_bad_counts(with_line(1, "year,lynx,\x1b]0;hare\x07"),
                              "counts.csv:1: no column 'hare' among 'year', 'lynx', '\\x1b]0;hare\\x07'; "
                              "the first line must name year, hare and lynx, with commas between")
        self.check_refused(["--\x1b[2J"], "--\\x1b[2J: there is no such option; see --help")
        self.check_refused(["\x1b[2J.csv"], "\\x1b[2J.csv: there is no such file; give a CSV with the columns year, hare and lynx")

    def test_long_fields_and_many_columns(self):
        self.check_bad_counts(
            with_line(3, f"1901,{'7x' * 100_000},47.2"),
            f"counts.csv:3: lynx is '{'7x' * 20}...' (200000 bytes); write a number, with a point before its decimals")
        self.check_bad_counts(
            with_line(1, ",".join(f"c{k}" for k in range(1000))),
            "counts.csv:1: no column 'year' among 'c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7' and 992 more; "
            "the first line must name year, hare and lynx, with commas between")

    def test_a_link_in_the_place_of_a_result(self):
        self.counts(GOOD)
        (self.folder / "precious").write_text("kept")
        for name in ("lynx_hare.csv", "lynx_hare.gp", "lynx_hare.png"):
            for target in ("precious", "counts.csv", "nowhere"):
                with self.subTest(name=name, target=target):
                    (self.folder / name).symlink_to(target)
                    self.check_refused(["counts.csv"], f"--output: './{name}' is a link and would be replaced; name another folder")
                    (self.folder / name).unlink()
        self.assertEqual((self.folder / "precious").read_text(), "kept")

    def test_a_folder_in_the_place_of_a_result(self):
        self.counts(GOOD)
        (self.folder / "lynx_hare.png").mkdir()
        self.check_refused(["counts.csv"], "--output: './lynx_hare.png' is no ordinary file and would be replaced; name another folder")

    def test_a_result_in_the_place_of_the_data_by_any_name(self):
        self.counts(GOOD, "lynx_hare.gp")
        self.check_refused(["lynx_hare.gp"], "--output: './lynx_hare.gp' is the data and would be replaced; name another folder")

    def test_a_result_in_the_place_of_the_data(self):
        self.counts(GOOD, "lynx_hare.csv")
        self.check_refused(["lynx_hare.csv"],
                           "--output: './lynx_hare.csv' is the data and would be replaced; name another folder")

    def test_a_folder_that_cannot_be_made(self):
        self.counts(GOOD)
        self.check_refused(["--output", "counts.csv/results"],
                           "--output: the folder 'counts.csv/results' cannot be written to; name another")

    def test_words_on_the_command_line(self):
        self.check_refused(["--fast"], "--fast: there is no such option; see --help")
        self.check_refused(["--starts"], "--starts: nothing follows; see --help")
        self.check_refused(["--starts", "few"], "--starts: 'few'; give a whole number from 1 to 1000000")
        self.check_refused(["--threads", "0"], "--threads: '0'; give a whole number from 1 to 1024")
        self.check_refused(["one.csv", "two.csv"], "two.csv: a second file after one.csv; give one file")

    def test_help(self):
        done = self.run_program("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("usage: fit_lynx_hare [options] [counts.csv]", done.stdout)


if __name__ == "__main__":
    unittest.main()
