"""Muon for weight matrices and convolutions, and a moving average of weights."""
import torch

NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)


class Muon:
    """Momentum whose step is made orthogonal by Newton-Schulz iterations.

    Parameters of the same shape are stepped together. A convolution is taken as the matrix
    (outputs, inputs * kernel).
    """

    def __init__(self, parameters, momentum=0.95, decay=0.02, iterations=4):
        self.parameters = list(parameters)
        self.momentum, self.decay, self.iterations = momentum, decay, iterations
        self.moments = [torch.zeros(len(p), p[0].numel(), device=p.device) for p in self.parameters]

    @torch.no_grad()
    def step(self, rate):
        gradients = [p.grad.reshape(m.shape) for p, m in zip(self.parameters, self.moments)]
        torch._foreach_lerp_(self.moments, gradients, 1 - self.momentum)
        groups = {}
        for parameter, update in zip(self.parameters, torch._foreach_lerp(gradients, self.moments, self.momentum)):
            groups.setdefault(tuple(update.shape), []).append((parameter, update))
        for shape, members in groups.items():
            updates = self.orthogonal(torch.stack([update for _, update in members]))
            parameters = [parameter for parameter, _ in members]
            size = 0.2 * max(shape) ** 0.5
            torch._foreach_mul_(parameters, 1 - rate * self.decay)
            steps = [update.reshape(p.shape) for p, update in zip(parameters, updates)]
            torch._foreach_add_(parameters, steps, alpha=-rate * size)

    def orthogonal(self, matrices):
        """The nearest orthogonal matrices, roughly."""
        tall = matrices.shape[1] > matrices.shape[2]
        if tall:
            matrices = matrices.transpose(1, 2).contiguous()
        matrices = matrices / (matrices.flatten(1).norm(dim=1)[:, None, None] + 1e-7)
        a, b, c = NEWTON_SCHULZ
        for _ in range(self.iterations):
            gram = matrices @ matrices.transpose(1, 2)
            matrices = a * matrices + (b * gram + c * gram @ gram) @ matrices
        return matrices.transpose(1, 2) if tall else matrices

    def state(self):
        return self.moments

    def load(self, state):
        self.moments = state


class Average:
    """An exponential moving average of parameters; `with average.applied():` swaps it in."""

    def __init__(self, parameters, decay):
        self.parameters, self.decay, self.steps = list(parameters), decay, 0
        self.values = [p.detach().clone() for p in self.parameters]

    @torch.no_grad()
    def update(self):
        self.steps += 1
        decay = min(self.decay, (1 + self.steps) / (10 + self.steps))
        torch._foreach_lerp_(self.values, [p.detach() for p in self.parameters], 1 - decay)

    def applied(self):
        return Applied(self)

    def state(self):
        return {"values": self.values, "steps": self.steps}

    def load(self, state):
        self.values, self.steps = state["values"], state["steps"]


class Applied:
    """Puts the averaged weights into the model for a while."""

    def __init__(self, average):
        self.average = average

    def __enter__(self):
        self.saved = [p.detach().clone() for p in self.average.parameters]
        copy(self.average.values, self.average.parameters)

    def __exit__(self, *_):
        copy(self.saved, self.average.parameters)


@torch.no_grad()
def copy(values, parameters):
    """Copies values into parameters."""
    for parameter, value in zip(parameters, values):
        parameter.copy_(value)


def trapezoid(share, hold=0.5, floor=0.01):
    """The learning rate over a run (share 0 to 1): constant, then linear to `floor`."""
    if share < hold:
        return 1.0
    return floor + (1 - floor) * max(0.0, 1 - share) / (1 - hold)
