#pragma once
// The picture that an example leaves, opened before its work begins: a name that cannot be written is told at once.

#include <cstdio>
#include <cstdlib>
#include <fstream>

/// The file that the first argument names; a closed one where there is none, or it is empty. Ends the program where it is an
/// option or cannot be written.
inline std::ofstream picture_file(int argc, char** argv) {
    std::ofstream file;
    if (argc < 2 || argv[1][0] == '\0') return file;
    if (argv[1][0] == '-') {
        std::printf("usage: %s [picture.svg]\n", argv[0]);
        std::exit(2);
    }
    file.open(argv[1]);
    if (!file) {
        std::fprintf(stderr, "%s: cannot be written; is there such a folder?\n", argv[1]);
        std::exit(2);
    }
    return file;
}
