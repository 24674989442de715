#pragma once
// What a shared library of eddy shows: all else in it is hidden, fmt above all, so that it meets
// nothing of the same name in the program that loads it.
// Test: tests/install/exports.py

/// Marks what src/ defines for those who include a header: a function, or a class.
#define EDDY_EXPORT __attribute__((visibility("default")))
