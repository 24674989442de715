"""compiler_options.py EDDY_INCLUDES… -- COMPILER FLAGS…: what eddy says of options under which it cannot work, or is slow. The first
error is one sentence; the note on optimisation is no warning, appears once, and not where it is switched off."""

import subprocess
import sys

LANGUAGE = "#include <eddy/core/host_device.hpp>\nint main() {}\n"
NOTE = "#include <eddy/optimisation_note.hpp>\nint main() {}\n"
CASES = [
    # (program, options, whether it compiles, what is said once; nothing: None)
    (LANGUAGE, ["-std=c++17"], False, "eddy: this source is not compiled as C++20; add -std=c++20"),
    (LANGUAGE, ["-std=c++20", "-fno-exceptions"], False, "eddy: compiled with -fno-exceptions"),
    (LANGUAGE, ["-std=c++20", "-O0"], True, None),
    (NOTE, ["-O0"], True, "eddy: compiled without optimisation"),
    (NOTE, ["-O1"], True, None),
    (NOTE, ["-O0", "-DEDDY_UNOPTIMISED"], True, None),
]


def main():
    end = sys.argv.index("--")
    compiler, failures = [*sys.argv[end + 1 :], *sys.argv[1:end], "-Wall", "-Werror", "-fsyntax-only", "-x", "c++", "-"], 0
    for program, options, compiles, says in CASES:
        run = subprocess.run([*compiler[:-3], *options, *compiler[-3:]], input=program, capture_output=True, text=True)
        messages = [line for line in run.stderr.splitlines() if "error:" in line or "warning:" in line or "note:" in line]
        as_wanted = says in messages[0] if says and messages else not says and not run.stderr
        if (run.returncode == 0) != compiles or not as_wanted:
            failures += 1
            print(f"{' '.join(options)}: wanted {'a program' if compiles else 'an error'} and {says!r}, got {run.returncode}:\n{run.stderr}")
    print(f"{len(CASES)} cases, {failures} failures")
    return 1 if failures else 0


sys.exit(main())
