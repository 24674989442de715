"""dlpack_torch.py LIBRARY

Tensors of PyTorch on a GPU, and JAX's where it is there, pass by DLPack into solves and gradients of eddy (dlpack_calls.cu, built as a shared
library) and out of them again. What comes back is compared with the same steps of RK4 in PyTorch on the host, and their derivative by
autograd. Exits with 4 where there is no PyTorch with CUDA.
"""

import ctypes
import os
import sys

SKIPPED = 4
LANES, T1, STEPS = 1009, 0.5, 64

try:
    import torch

    reason = None if torch.cuda.is_available() else "this PyTorch finds no device"
except ImportError:
    reason = "no PyTorch here"


class Incoming(ctypes.Structure):
    _fields_ = [("managed", ctypes.c_void_p), ("has_version", ctypes.c_int)]


def capsule_function(name, result, *arguments):
    function = getattr(ctypes.pythonapi, name)
    function.restype, function.argtypes = result, arguments
    return function


capsule_name = capsule_function("PyCapsule_GetName", ctypes.c_char_p, ctypes.py_object)
capsule_pointer = capsule_function("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
new_capsule = capsule_function("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
DLTENSOR = ctypes.c_char_p(b"dltensor")  # capsules keep the pointer to their name


class Given:
    """An array's capsule as the library takes it. The capsule, which frees the tensor, lives as long as this."""

    def __init__(self, array, **arguments):
        self.capsule = array.__dlpack__(**arguments)
        name = capsule_name(self.capsule)
        self.tensor = Incoming(capsule_pointer(self.capsule, name), name == b"dltensor_versioned")


class Taken:
    """A managed tensor of the library's, as other libraries take it: once."""

    def __init__(self, pointer, device):
        self.capsule, self.device = new_capsule(pointer, DLTENSOR, None), device

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return self.device


class Library:
    def __init__(self, path):
        self.calls = ctypes.CDLL(path)
        self.calls.free_text.argtypes = [ctypes.c_void_p]
        for name in ("solve_into", "gradient_of"):
            getattr(self.calls, name).restype = ctypes.c_void_p

    def __call__(self, name, *arguments):
        """The sentence of a call that was refused, or None."""
        text = getattr(self.calls, name)(*arguments)
        if not text:
            return None
        sentence = ctypes.string_at(text).decode()
        self.calls.free_text(text)
        return sentence

    def solve(self, y0, p, y, stream=0):
        given = [Given(array) for array in (y0, p, y)]
        return self("solve_into", *(one.tensor for one in given), ctypes.c_void_p(stream), ctypes.c_double(T1), ctypes.c_int(STEPS))

    def gradient(self, target, y0, p, y0_gradient, stream=0):
        given = [Given(array) for array in (target, y0, p, y0_gradient)]
        of_p, losses = ctypes.c_void_p(), ctypes.c_void_p()
        said = self("gradient_of", *(one.tensor for one in given), ctypes.c_void_p(stream), ctypes.c_double(T1), ctypes.c_int(STEPS),
                    ctypes.byref(of_p), ctypes.byref(losses))
        return said or (Taken(of_p.value, (2, 0)), Taken(losses.value, (1, 0)))


def lorenz(y, p):
    x, v, z = y.unbind(1)
    return torch.stack((p[..., 0] * (v - x), x * (p[..., 1] - z) - v, x * v - p[..., 2] * z), 1)


def by_rk4(y, p):
    """The same steps, on the host."""
    h = T1 / STEPS
    for _ in range(STEPS):
        k1 = lorenz(y, p)
        k2 = lorenz(y + h / 2 * k1, p)
        k3 = lorenz(y + h / 2 * k2, p)
        k4 = lorenz(y + h * k3, p)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def inputs():
    generator = torch.Generator().manual_seed(7)
    y0 = 1 + torch.rand(LANES, 3, dtype=torch.float64, generator=generator)
    p = torch.tensor([10.0, 28.0, 8 / 3], dtype=torch.float64)
    return y0, p, torch.full((1, 3), 0.5, dtype=torch.float64)


failures = []


def check(claim, holds):
    print(("ok      " if holds else "FAILED  ") + claim)
    if not holds:
        failures.append(claim)


def near(a, b):
    return a.shape == b.shape and bool(torch.max(torch.abs(a - b)) <= 1e-11 * torch.max(torch.abs(b)))


def check_torch(library):
    y0, p, target = inputs()
    wanted = by_rk4(y0, p)
    layouts = {
        "row by row": lambda x: x.cuda(),
        "column by column": lambda x: x.cuda().T.contiguous().T,
        "every other row and column": lambda x: torch.zeros(2 * x.shape[0], 2 * x.shape[1], dtype=x.dtype, device="cuda")[::2, ::2].copy_(x),
    }
    for name, there in layouts.items():
        y = there(torch.zeros_like(y0))
        said = library.solve(there(y0), there(p.expand(LANES, 3).contiguous()), y)
        check(f"torch: a solve of tensors that lie {name}", said is None and near(y.cpu(), wanted))

    start, rates = y0.clone().requires_grad_(), p.clone().requires_grad_()
    loss = 0.5 * ((by_rk4(start, rates) - target) ** 2).sum(1)
    loss.sum().backward()
    side = torch.cuda.Stream()
    for name, stream in (("the default stream", torch.cuda.current_stream()), ("a stream of its own", side)):
        with torch.cuda.stream(stream):
            y0_there = torch.empty_like(y0, device="cuda")
            y0_there.copy_(y0.cuda() * 2)
            y0_there *= 0.5  # still at work when the call begins
            y0_gradient = torch.full_like(y0_there, float("nan"))
            taken = library.gradient(target.cuda(), y0_there, p.cuda(), y0_gradient, stream.cuda_stream)
            of_p, losses = (torch.from_dlpack(one) for one in taken)
        check(f"torch: the gradient by y0, in {name}", near(y0_gradient.cpu(), start.grad))
        check(f"torch: that by shared parameters is a tensor on the device, in {name}",
              of_p.is_cuda and near(of_p.cpu()[0], rates.grad))
        check(f"torch: losses are a tensor of the host, in {name}", not losses.is_cuda and near(losses[:, 0], loss.detach()))

    keep = y0.cuda()
    before = torch.cuda.mem_get_info()[0]
    for _ in range(50):
        for one in library.gradient(target.cuda(), keep, p.cuda(), torch.empty_like(keep)):
            torch.from_dlpack(one)
    torch.cuda.synchronize()
    check("torch: tensors that were handed out are freed", abs(torch.cuda.mem_get_info()[0] - before) < 16 << 20)

    y = torch.zeros_like(y0).cuda()
    check("torch: tensors of the host are refused in a sentence", "type 1" in (library.solve(y0, p.expand(LANES, 3).contiguous(), y) or ""))
    check("torch: so is single precision", "32 bits" in (library.solve(y0.cuda().float(), p.cuda().expand(LANES, 3).contiguous(), y) or ""))
    with_nan = y0.cuda()
    with_nan[77, 2] = float("nan")
    check("torch: so are numbers that are not finite", "y0(77, 2)" in (library.solve(with_nan, p.expand(LANES, 3).cuda(), y) or ""))


def check_jax(library):
    import jax

    jax.config.update("jax_enable_x64", True)
    if jax.default_backend() != "gpu":
        print("skipped: this JAX finds no device")
        return
    y0, p, target = inputs()
    wanted = by_rk4(y0, p)
    start, rates = y0.clone().requires_grad_(), p.clone().requires_grad_()
    (0.5 * ((by_rk4(start, rates) - target) ** 2).sum()).backward()
    there = [jax.device_put(x.numpy(), jax.devices()[0]) for x in (target, y0, p)]
    for array in there:
        array.block_until_ready()
    y, y0_gradient = (torch.zeros_like(y0, device="cuda") for _ in range(2))
    said = library.solve(there[1], jax.numpy.tile(there[2], (LANES, 1)).block_until_ready(), y)
    check("jax: a solve of arrays of JAX's into a tensor of PyTorch's", said is None and near(y.cpu(), wanted))
    of_p, losses = library.gradient(*there, y0_gradient)
    by_p = jax.dlpack.from_dlpack(of_p)
    check("jax: the gradient by shared parameters is an array of JAX's on the device",
          by_p.devices() == {jax.devices()[0]} and near(torch.tensor(by_p.tolist(), dtype=torch.float64)[0], rates.grad))
    check("jax: the gradient by y0", near(y0_gradient.cpu(), start.grad))
    torch.from_dlpack(losses)


def main():
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # JAX would take most of the memory otherwise
    if reason:
        print(f"skipped: {reason}")
        return SKIPPED
    library = Library(sys.argv[1])
    check_torch(library)
    try:
        import jax  # noqa: F401
    except ImportError:
        print("skipped: no JAX here")
    else:
        check_jax(library)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
