"""Weights between eddy and Python: `weights_file.py PROGRAM`. Files are read and written by their published formats alone and,
where they are installed, by numpy and safetensors."""

import importlib.util
import json
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

SHAPES = {"layers.0.weight": (5, 3), "layers.0.bias": (5,), "layers.1.weight": (2, 5), "layers.1.bias": (2,)}


def count(shape):
    return shape[0] * (shape[1] if len(shape) > 1 else 1)


WEIGHTS, first = {}, 0
for name, shape in SHAPES.items():
    WEIGHTS[name] = [0.25 * k - 3 for k in range(first, first + count(shape))]
    first += count(shape)
FLAT = [x for numbers in WEIGHTS.values() for x in numbers]


def write_safetensors(path):
    """The tensors in another order than eddy's, as a dictionary may have them."""
    entries, data = {"__metadata__": {"format": "np"}}, b""
    for name in sorted(SHAPES):
        numbers = struct.pack(f"<{len(WEIGHTS[name])}f", *WEIGHTS[name])
        entries[name] = {"dtype": "F32", "shape": SHAPES[name], "data_offsets": [len(data), len(data) + len(numbers)]}
        data += numbers
    text = json.dumps(entries).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path, letter):
    file = path.read_bytes()
    (length,) = struct.unpack_from("<Q", file)
    tensors = {}
    entries = json.loads(file[8 : 8 + length])
    assert entries.pop("__metadata__") == {"eddy.network": "mlp(tanh)"}
    for name, entry in entries.items():
        begin, end = entry["data_offsets"]
        assert tuple(entry["shape"]) == SHAPES[name] and entry["dtype"] == {"d": "F64", "f": "F32"}[letter], entry
        tensors[name] = list(struct.unpack(f"<{count(SHAPES[name])}{letter}", file[8 + length + begin : 8 + length + end]))
    assert (8 + length) % 8 == 0
    return tensors


def write_npy(path):
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(FLAT)},), }}\n".encode()
    path.write_bytes(b"\x93NUMPY\x02\x00" + struct.pack("<I", len(text)) + text + struct.pack(f"<{len(FLAT)}d", *FLAT))


def read_npy(path, letter):
    file = path.read_bytes()
    (length,) = struct.unpack_from("<H", file, 8)
    assert file.startswith(b"\x93NUMPY\x01\x00") and (10 + length) % 64 == 0
    header = eval(file[10 : 10 + length])  # the format is a literal of Python
    assert header == {"descr": {"d": "<f8", "f": "<f4"}[letter], "fortran_order": False, "shape": (len(FLAT),)}, header
    return list(struct.unpack(f"<{len(FLAT)}{letter}", file[10 + length :]))


def exchange(program, folder):
    subprocess.run([program, "[.exchange]"], env={**os.environ, "EDDY_TEST_FOLDER": str(folder)}, check=True, stdout=subprocess.DEVNULL)


def check_by_formats(program, folder):
    write_safetensors(folder / "from_python.safetensors")
    write_npy(folder / "from_python.npy")
    exchange(program, folder)
    for name, letter in [("from_eddy", "d"), ("single", "f")]:
        assert read_safetensors(folder / f"{name}.safetensors", letter) == {key: [x + 1 for x in xs] for key, xs in WEIGHTS.items()}
        assert read_npy(folder / f"{name}.npy", letter) == [x + 1 for x in FLAT]


def check_by_packages(program, folder):
    import numpy
    from safetensors.numpy import load_file, save_file

    arrays = {name: numpy.array(WEIGHTS[name], numpy.float16).reshape(SHAPES[name]) for name in SHAPES}
    save_file(arrays, folder / "from_python.safetensors")
    numpy.save(folder / "from_python.npy", numpy.array(FLAT))
    exchange(program, folder)
    for name in ["from_eddy", "single"]:
        loaded = load_file(folder / f"{name}.safetensors")
        assert loaded.keys() == arrays.keys()
        for key, array in arrays.items():
            assert numpy.array_equal(loaded[key], array + 1.0), key
        assert numpy.array_equal(numpy.load(folder / f"{name}.npy"), numpy.array(FLAT) + 1)


with tempfile.TemporaryDirectory() as name:
    check_by_formats(sys.argv[1], Path(name))
    packages = all(importlib.util.find_spec(package) for package in ["numpy", "safetensors"])
    if packages:
        check_by_packages(sys.argv[1], Path(name))
    print("by the formats" + (", by numpy and safetensors" if packages else "; numpy and safetensors are not installed"))
