"""The stochastic equation of case 9 by diffrax, as its documentation shows it: a path by a Brownian tree, or, forward alone, without one."""

import diffrax
import jax
import jax.numpy as jnp

from jax_noise import JaxNoise
from serve import serve


class DiffraxNoise(JaxNoise):
    @property
    def has_tree(self) -> bool:
        return self.options["path"] == "tree"

    def describe(self) -> str:
        path = "VirtualBrownianTree(tol = dt0 / 2)" if self.has_tree else "UnsafeBrownianPath"
        adjoint = ", RecursiveCheckpointAdjoint(checkpoints = max_steps)" if self.wants_gradient else ", ForwardMode"
        return f"jit(vmap(diffeqsolve)), Euler, ConstantStepSize, {path}{adjoint}"

    def end(self, p, keys):
        max_steps = self.steps + 2    # steps of constant size may miss the end by rounding, and then take one more
        adjoint = diffrax.RecursiveCheckpointAdjoint(checkpoints=max_steps) if self.wants_gradient else diffrax.ForwardMode()

        def one(key):
            control = diffrax.ControlTerm(lambda t, y, p: p[1] * y, self.path(key))
            terms = diffrax.MultiTerm(diffrax.ODETerm(lambda t, y, p: p[0] * y), control)
            return diffrax.diffeqsolve(terms, diffrax.Euler(), 0.0, 1.0, 1 / self.steps, jnp.ones(()), p, max_steps=max_steps, adjoint=adjoint,
                                       saveat=diffrax.SaveAt(t1=True)).ys[0]
        return jax.vmap(one)(keys)

    def path(self, key):
        if self.has_tree:
            return diffrax.VirtualBrownianTree(0.0, 1.0, tol=0.5 / self.steps, shape=(), key=key)
        return diffrax.UnsafeBrownianPath(shape=(), key=key)


if __name__ == "__main__":
    serve(DiffraxNoise)
