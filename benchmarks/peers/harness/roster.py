"""The cases, and who takes part in each. No case is tuned: they are those that published comparisons use, and three drawn at random."""

import random
from dataclasses import replace

from .case import Arm, Case

GPU_PEERS = {"jax", "diffrax", "torchdiffeq", "torchode"}


def python(script: str, name: str, peer: str, stride: int = 1, only: tuple[float, ...] = (), **options: str) -> Arm:
    return Arm(name, peer, ("python", script), options, stride, only)


def native(program: str, name: str, peer: str, stride: int = 1, only: tuple[float, ...] = (), **options: str) -> Arm:
    return Arm(name, peer, ("native", program), options, stride, only)


def few(arm: Arm, lanes: int) -> Arm:
    return replace(arm, few=lanes)


def eddy(program: str, *methods: str, **options: str) -> tuple[Arm, ...]:
    return tuple(native(program, f"eddy {method}", "eddy", method=method, **options) for method in methods)


FIXED = Case(
    "1-fixed", "Lorenz, 1,000 steps of constant size", "lorenz", "fixed", "lane and step",
    "2,048 trajectories of the Lorenz equations, ρ from 0 to 21, t from 0 to 1 in 1,000 steps of a method of order 5 with six "
    "evaluations a step, Tsitouras' or Dormand and Prince's. Nothing adapts here: what is measured is how close the arithmetic comes to what the processor can do. The error is that of rounding, and marked above 1.5e-12.",
    (*eddy("eddy_lorenz", "Tsit5", "Dopri5"),
     native("odeint_arm", "odeint dopri5, doubles", "odeint", 16, method="dopri5"),
     native("odeint_arm", "odeint dopri5, vectors of 8", "odeint", method="dopri5_vector"),
     python("flat_jax.py", "flat JAX Tsit5", "jax", method="Tsit5"),
     python("diffrax_arm.py", "diffrax Tsit5", "diffrax", method="Tsit5"),
     python("torchdiffeq_arm.py", "torchdiffeq dopri5, eager", "torchdiffeq", method="dopri5"),
     python("torchdiffeq_arm.py", "torchdiffeq dopri5, compiled", "torchdiffeq", method="dopri5", compiled="1")),
    lanes=2048, quick_lanes=1024, options={"steps": "1000"}, work_per_lane=1000, same_error=1e-12)

ADAPTIVE = Case(
    "2-adaptive", "Lorenz, adaptive", "lorenz", "adaptive", "lane",
    "4,096 trajectories as in case 1, each with step sizes of its own, at three errors. Arms take the method of their library that suits the "
    "error; where it was not clear which, there is an arm for each. heyoka's Taylor method raises its order with the digits asked for, and "
    "compiles the equation for the processor, as eddy does; numbalsoda, odeint and SUNDIALS take one trajectory after another, of which "
    "every 16th is run. JAX and diffrax step all lanes until the slowest is done. The number in the name of eddy's Taylor methods is their order, and one evaluation of theirs is a whole series; heyoka's tolerance chooses the order of its series alone, and "
    "its errors jump by about e² from one order to the next: it runs at the next smaller one, and where that is smaller by much, it is marked.",
    (*eddy("eddy_lorenz", "Tsit5", "Vern7", "Dopri8", "Taylor9", "Taylor14", "Taylor18"),
     python("heyoka_arm.py", "heyoka, batches", "heyoka"),
     python("numbalsoda_arm.py", "numbalsoda LSODA", "numbalsoda", 16, method="lsoda"),
     python("numbalsoda_arm.py", "numbalsoda DOP853", "numbalsoda", 16, method="dop853"),
     native("odeint_arm", "odeint dopri5", "odeint", 16, method="dopri5"),
     native("odeint_arm", "odeint fehlberg78", "odeint", 16, method="fehlberg78"),
     python("flat_jax.py", "flat JAX Tsit5", "jax", method="Tsit5"),
     python("diffrax_arm.py", "diffrax Tsit5", "diffrax", method="Tsit5", at_once="512"),
     python("diffrax_arm.py", "diffrax Dopri8", "diffrax", method="Dopri8", at_once="512"),
     native("arkode_arm", "SUNDIALS ERK 5(4)", "sundials", 16, method="5"),
     native("arkode_arm", "SUNDIALS ERK 8(7)", "sundials", 16, method="8")),
    targets=(1e-6, 1e-8, 1e-12), sweep=(1e-4, 1e-10))

GRADIENT = Case(
    "3-gradient", "Gradient of adaptive Lorenz", "lorenz", "gradient", "lane",
    "The gradient of |y(1)|² of each trajectory of case 2 with respect to its σ, ρ and β, forward pass included. The error is that of the "
    "gradient. eddy computes the gradient with respect to y0 beside it, which is asked of one arm of heyoka alone. heyoka carries "
    "variational equations forward, of first order; CVODES integrates an adjoint equation backward, forward steps kept and "
    "interpolated. torchdiffeq gives all lanes one step size; its adjoint integrates the state backward as well, which for this equation "
    "grows errors, so that it needs far tighter tolerances; it is run at one error only, and on every 4th lane. torchode is compiled for one "
    "error only, for it is compiled anew for each tolerance, and is not run at 1e-10.",
    (*eddy("eddy_gradient", "Tsit5", "Vern7", "Dopri8"),
     python("heyoka_arm.py", "heyoka, variational", "heyoka"),
     python("heyoka_arm.py", "heyoka, variational, y0 as well", "heyoka", y0="1"),
     native("cvodes_arm", "CVODES adjoint, Adams", "sundials", 64, method="adams"),
     native("cvodes_arm", "CVODES adjoint, BDF", "sundials", 64, method="bdf"),
     python("flat_jax.py", "flat JAX Tsit5, reverse", "jax", method="Tsit5", at_once="1024"),
     python("flat_jax.py", "flat JAX Tsit5, forward", "jax", method="Tsit5", mode="forward", at_once="1024"),
     python("diffrax_arm.py", "diffrax Tsit5", "diffrax", method="Tsit5", at_once="512"),
     python("torchode_arm.py", "torchode Tsit5", "torchode", 1, (1e-4, 1e-6, 1e-8), method="Tsit5"),
     python("torchode_arm.py", "torchode Tsit5, compiled", "torchode", 1, (1e-6,), method="Tsit5", compiled="1"),
     python("torchdiffeq_arm.py", "torchdiffeq dopri5, adjoint", "torchdiffeq", 4, (1e-6,), method="dopri5", adjoint="1"),
     python("torchdiffeq_arm.py", "torchdiffeq dopri5, backpropagation", "torchdiffeq", 1, (1e-6, 1e-8), method="dopri5")),
    targets=(1e-6, 1e-8), sweep=(1e-4, 1e-10))


def memory(number: str, steps: int, lanes: int, limit_mib: int) -> Case:
    return Case(
        f"{number}-memory-{steps}", f"Gradient of {steps:,} constant steps within {limit_mib} MiB", "lorenz", "memory", "lane and step",
        f"The gradient of case 3 for {lanes:,} trajectories of {steps:,} steps, whose states together take {steps * lanes * 24 / 2**20:,.0f} MiB, with "
        f"{limit_mib} MiB for what is kept. Peak memory is what the kernel counted beyond what the process held before, work space and "
        "results included; who exceeds the limit can be seen there. flat JAX nests `jax.checkpoint` in two levels, diffrax is given as "
        "many checkpoints as fit; CVODES takes step sizes of its own, fewer and larger ones, at a tolerance of "
        "2e-14, and keeps all of them: its time is that of a lane divided by the steps of the others. An error above 1.5e-12 is marked.",
        (*eddy("eddy_gradient", "Tsit5"),
         python("flat_jax.py", "flat JAX Tsit5, checkpointed scan", "jax", method="Tsit5"),
         python("diffrax_arm.py", "diffrax Tsit5, recursive checkpoints", "diffrax", method="Tsit5"),
         native("cvodes_arm", "CVODES adjoint, Adams", "sundials", lanes // 32, method="adams", tolerance="2e-14")),
        lanes=lanes, quick_lanes=lanes // 4, check=32, options={"steps": str(steps), "limit_mib": str(limit_mib)}, work_per_lane=steps,
        shows_memory=True, same_error=1e-12)


def neural(letter: str, lanes: int) -> Case:
    return Case(
        f"5{letter}-neural-{lanes}", f"Neural ODE 2-64-64-2, {lanes:,} lanes, single precision", "neural", "neural", "lane and step",
        f"dy/dt = W3 tanh(W2 tanh(W1 y + b1) + b2) + b3 for {lanes:,} lanes with one set of 4,482 weights, t from 0 to 1 in 20 steps of Dormand and "
        "Prince's method, loss |y(1)|² summed; the gradient with respect to all weights, forward pass included. In single precision, as such "
        "networks are trained. Eigen is a hand-written loop over matrix products, in blocks of lanes that stay in the cache.",
        (*eddy("eddy_neural", "Dopri5"),
         native("eigen_arm", "Eigen by hand", "eigen"),
         python("flat_jax_neural.py", "flat JAX", "jax"),
         python("diffrax_neural.py", "diffrax Dopri5", "diffrax"),
         python("torch_neural.py", "torchode Dopri5", "torchode", library="torchode"),
         python("torch_neural.py", "torchdiffeq Dopri5, eager", "torchdiffeq", library="torchdiffeq"),
         python("torch_neural.py", "torchdiffeq Dopri5, compiled", "torchdiffeq", library="torchdiffeq", compiled="1")),
        lanes=lanes, quick_lanes=lanes // 4, check=lanes, options={"steps": "20"}, work_per_lane=20)


UNEVEN = Case(
    "7-uneven", "Van der Pol, μ from 1 to 100", "van_der_pol", "adaptive", "lane",
    "1,024 Van der Pol oscillators, μ log-uniform from 1 to 100 in no order, t from 0 to 20: the number of steps differs much "
    "from lane to lane. Who steps all lanes until the slowest is done pays for it. All methods are explicit but LSODA, which changes to an "
    "implicit one where the equation is stiff, and so is at an advantage that is not of its code.",
    (*eddy("eddy_van_der_pol", "Tsit5", "Vern7"),
     python("heyoka_arm.py", "heyoka, batches", "heyoka"),
     python("numbalsoda_arm.py", "numbalsoda LSODA", "numbalsoda", 16, method="lsoda"),
     python("numbalsoda_arm.py", "numbalsoda DOP853", "numbalsoda", 16, method="dop853"),
     python("diffrax_arm.py", "diffrax Tsit5", "diffrax", method="Tsit5"),
     python("torchode_arm.py", "torchode Tsit5", "torchode", 1, (1e-6,), method="Tsit5")),
    lanes=1024, quick_lanes=256, targets=(1e-6,), sweep=(1e-4, 1e-8))


def noise(letter: str, what: str, task: str, error: float, paragraph: str, *arms: Arm) -> Case:
    return Case(
        f"9{letter}-{task}", f"Geometric Brownian motion, 256 steps of constant size{what}", "geometric_brownian", task, "path and step",
        "dy = 0.05 y dt + 0.4 y dW from y = 1, t from 0 to 1 in 256 steps of Euler's and Maruyama's method, 16,384 paths. " + paragraph +
        "Every arm draws noise of its own: the error is that of sampling, against what the method's steps have as their mean. diffrax runs "
        "on every 16th path.",
        arms, lanes=1 << 14, quick_lanes=1 << 12, options={"steps": "256"}, work_per_lane=256, same_error=error)


NOISE = noise(
    "a", "", "noise", 0.05,
    "The noise is most of the work: eddy, JAX and the tree of diffrax draw it from counters, so that it need not be stored. diffrax "
    "recommends its tree, and has a path without one for steps of constant size. Normals of the loops by hand are in single precision, as eddy's are. ",
    *eddy("eddy_noise", "EulerMaruyama"),
    python("torch_noise.py", "PyTorch, a loop by hand", "torch", library="none"),
    python("torch_noise.py", "torchsde euler", "torchsde", library="torchsde"),
    python("jax_noise.py", "flat JAX, a scan by hand", "jax"),
    python("diffrax_noise.py", "diffrax Euler, no tree", "diffrax", 16, path="unsafe"),
    python("diffrax_noise.py", "diffrax Euler, Brownian tree", "diffrax", 16, path="tree"))
NOISE_GRADIENT = noise(
    "b", ", gradient", "noise-gradient", 0.15,
    "The gradient of the mean of y(1)² with respect to the two parameters, forward pass included; eddy's with respect to y0 comes with it. eddy keeps states and "
    "normals where they fit; within 32 checkpoints it computes most states again. ",
    *eddy("eddy_noise", "EulerMaruyama"),
    native("eddy_noise", "eddy EulerMaruyama, 32 checkpoints", "eddy", checkpoints="32"),
    python("torch_noise.py", "PyTorch, a loop by hand", "torch", library="none"),
    python("torch_noise.py", "torchsde euler", "torchsde", library="torchsde"),
    python("jax_noise.py", "flat JAX, a scan by hand", "jax"),
    python("diffrax_noise.py", "diffrax Euler, Brownian tree", "diffrax", 16, path="tree"))


STIFF_SETTINGS = {"robertson": ("Robertson's reactions", 3, "t from 0 to 1e11", "t from 0 to 40", "1e-8"),
                  "hires": ("HIRES", 8, "t from 0 to 321.8122", "t from 0 to 321.8122", "1e-4"),
                  "pollution": ("Pollution", 20, "t from 0 to 60", "t from 0 to 60", "1e-5")}


def stiff(letter: str, problem: str) -> Case:
    name, size, span, _, atol_ratio = STIFF_SETTINGS[problem]
    return Case(
        f"8{letter}-stiff-{problem}", f"Stiff: {name}, {size} species", problem, "adaptive", "lane",
        f"{name}, {span}, 32,768 lanes whose rates lie within a tenth of the usual ones, atol = {atol_ratio} rtol for all. The error is that of the "
        "worst component, each relative to itself. Every peer gets the exact Jacobian but numbalsoda, which takes none, and diffrax, which "
        "derives its own. LSODA, CVODE and RODAS go through one lane after another, 64 of them, SciPy through two. RODAS is Hairer and "
        "Wanner's own code in Fortran; eddy's Rodas4 has its coefficients.",
        (*eddy(f"eddy_{problem}", "Rodas5P", "Rodas4"),
         native("cvodes_stiff", "CVODE BDF", "sundials", 512),
         python("numbalsoda_arm.py", "numbalsoda LSODA", "numbalsoda", 512, method="lsoda"),
         python("rodas_arm.py", "RODAS in Fortran", "assimulo", 512),
         *(few(python("scipy_stiff.py", f"SciPy {method}", "scipy", method=method), 2) for method in ("Radau", "BDF", "LSODA")),
         few(python("diffrax_arm.py", "diffrax Kvaerno5", "diffrax", method="Kvaerno5"), 32)),
        lanes=32768, quick_lanes=2048, targets=(1e-5,), options={"atol_ratio": atol_ratio}, by_component=True)


def stiff_gradient(letter: str, problem: str) -> Case:
    name, size, _, span, atol_ratio = STIFF_SETTINGS[problem]
    looked_at = 16 if size < 10 else 4    # the reference is a complex step for every rate and lane
    return Case(
        f"8{letter}-stiff-gradient-{problem}", f"Gradient of stiff equations: {name}, {size} species", problem, "gradient", "lane",
        f"The gradient of |y|² at the end by all rates, {span}, lanes as in the case before, forward pass included. The error is that of the "
        "gradient's worst component, each relative to itself. CVODES integrates the adjoint equation with quadratures backward along "
        f"interpolated steps, {looked_at} lanes of 4,096.",
        (*eddy(f"eddy_{problem}", "Rodas5P"), native("cvodes_stiff", "CVODES adjoint, BDF", "sundials", 4096 // looked_at)),
        lanes=4096, quick_lanes=512, check=looked_at, targets=(1e-5,), options={"atol_ratio": atol_ratio}, by_component=True)


LATENCY = tuple(Case(
    f"10{letter}-latency-{task}", f"Latency: one trajectory, {what}", "lorenz", task, "call",
    f"One Lorenz trajectory, ρ = 28, t from 0 to 1: {what}, called again and again. C++ peers are called from C++, SciPy and heyoka from Python, "
    "whose call is part of the time as it is for their users.",
    arms, lanes=1, quick_lanes=1, check=1, targets=(1e-6,))
    for letter, task, what, arms in (
        ("a", "adaptive", "a solve",
         (*eddy("eddy_lorenz", "Tsit5", "Vern7", backend="Serial"),
          native("odeint_arm", "odeint dopri5", "odeint", method="dopri5"),
          native("arkode_arm", "SUNDIALS ERK 5(4)", "sundials", method="5"),
          python("heyoka_arm.py", "heyoka", "heyoka"),
          python("scipy_arm.py", "SciPy RK45", "scipy", method="RK45"),
          python("scipy_arm.py", "SciPy DOP853", "scipy", method="DOP853"))),
        ("b", "gradient", "its gradient",
         (*eddy("eddy_gradient", "Tsit5", "Vern7", backend="Serial"),
          python("heyoka_arm.py", "heyoka, variational", "heyoka"),
          native("cvodes_arm", "CVODES adjoint, Adams", "sundials", method="adams"),
          native("cvodes_arm", "CVODES adjoint, BDF", "sundials", method="bdf"),
          python("scipy_arm.py", "SciPy DOP853, variational", "scipy", method="DOP853")))))

FIT = Case(
    "11-fit", "Multi-start fit of lynx and hare", "lynx_hare", "fit", "start",
    "Lotka and Volterra's equations, six unknowns, fitted to the 21 years of the Hudson's Bay Company from 1,000 starting points by least "
    "squares. The error is how far the best sum of squares that an arm found lies from the best known; the share of starts that found it "
    "stands below the table, and an optimiser that gives up early is fast. eddy is the repository's example: forward mode in Eigen's "
    "Levenberg–Marquardt. CVODES carries forward sensitivities in the same optimiser, every 20th start; SciPy takes differences, every 200th; "
    "diffrax solves every twentieth, all at once, until the slowest of them is done.",
    (native("eddy_fit", "eddy Tsit5, Eigen's Levenberg–Marquardt", "eddy"),
     native("cvodes_fit", "CVODES sensitivities, Eigen's Levenberg–Marquardt", "sundials", 20),
     python("scipy_fit.py", "SciPy least_squares", "scipy", 200),
     python("diffrax_fit.py", "diffrax, optimistix' Levenberg–Marquardt", "diffrax", 20)),
    lanes=1000, quick_lanes=200, check=5)


OWN_TIMES = Case(
    "12-own-times", "Neural ODE 2-64-64-2, data at times of each lane's own", "neural", "own-times", "lane",
    "The network of case 5 for 256 lanes, each with 40 times of its own, drawn evenly from 0 to 8, and data at them; the gradient of the sum of "
    "squared distances with respect to all weights, forward pass included. The error is that of the gradient. diffrax solves under `vmap`, "
    "all lanes until the slowest is done, and interpolates at each lane's times, as eddy does.",
    (native("eddy_own_times", "eddy Tsit5, double precision", "eddy"),
     python("diffrax_own_times.py", "diffrax Tsit5, single precision", "diffrax")),
    lanes=256, quick_lanes=64, check=256, targets=(1e-3,), options={"points": "40", "end": "8"})


def random_cases(seed: int) -> list[Case]:
    """Three members of a family: a ring of n coupled unknowns, each damped at its own rate, as in Lorenz' model of 1996."""
    draw = random.Random(seed)
    cases = []
    for number in range(1, 4):
        size, stiffness, forcing = draw.randint(4, 12), 10 ** draw.uniform(0, 2), draw.uniform(1, 4)
        cases.append(Case(
            f"R{number}-seed-{seed}", f"Ring of {size}, damping 1 to {stiffness:.3g}, forcing to {forcing:.2g}", "ring", "adaptive", "lane",
            f"Drawn with seed {seed}: dy_i/dt = (y_(i+1) − y_(i−2)) y_(i−1) − d_i y_i + F for {size} unknowns in a ring, d_i log-evenly from 1 to "
            f"{stiffness:.3g}, F from 0 to {forcing:.2g} over the lanes, t from 0 to 2.",
            (*eddy("eddy_ring", "Tsit5", "Vern7"),
             python("heyoka_arm.py", "heyoka, batches", "heyoka"),
             python("numbalsoda_arm.py", "numbalsoda LSODA", "numbalsoda", 16, method="lsoda"),
             native("odeint_arm", "odeint dopri5", "odeint", 16, method="dopri5"),
             python("flat_jax.py", "flat JAX Tsit5", "jax", method="Tsit5"),
             python("diffrax_arm.py", "diffrax Tsit5", "diffrax", method="Tsit5")),
            lanes=1024, quick_lanes=256, targets=(1e-6,),
            options={"size": str(size), "stiffness": repr(stiffness), "forcing": repr(forcing)}))
    return cases


def all_cases(seed: int, has_gpu: bool = False) -> list[Case]:
    cases = [FIXED, ADAPTIVE, GRADIENT, memory("4a", 1_000, 2048, 8), memory("4b", 100_000, 96, 32), neural("a", 256), neural("b", 4096), UNEVEN,
             *(stiff(letter, problem) for letter, problem in zip("abc", STIFF_SETTINGS)),
             *(stiff_gradient(letter, problem) for letter, problem in zip("def", STIFF_SETTINGS)), NOISE, NOISE_GRADIENT, *LATENCY, FIT, OWN_TIMES,
             *random_cases(seed)]
    return [with_gpu(case) for case in cases] if has_gpu else cases


def with_gpu(case: Case) -> Case:
    """The same arms once more on the GPU, where the peer takes it; of eddy an arm for the Lorenz equations."""
    more = [replace(arm, name=arm.name + ", GPU", options={key: value for key, value in arm.options.items() if key != "at_once"} | {"device": "gpu"})
            for arm in case.arms
            if arm.peer in GPU_PEERS and case.lanes > 1 and case.task != "fit"]
    if case.problem == "lorenz" and case.lanes > 1:
        more.append(native("eddy_lorenz_cuda", "eddy Tsit5, GPU", "eddy", method="Tsit5", device="gpu"))
    return replace(case, arms=case.arms + tuple(more))
