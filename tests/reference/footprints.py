"""What a network is made of and what a pass through it costs, block by block, without its weights.

The network stands on torch's meta device, where a forward pass computes shapes and no numbers. `Recorder` watches
such passes; `polynomial` turns what it saw at several sizes into a formula over the sizes.
"""

import math
import re
from dataclasses import dataclass, field

import quiet  # noqa: F401  (has to come first)

import numpy as np
import torch
import torch.nn.functional as F
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

MATRICES = (torch.nn.Linear, torch.nn.modules.conv._ConvNd)


@dataclass
class Block:
    """One unit of weights, and for each recorded pass what it took."""

    name: str
    modules: list = field(default_factory=list)
    tensors: list = field(default_factory=list)  # (elements, whether it is a matrix or a kernel)
    operations: list = field(default_factory=list)  # floating-point operations
    carried: list = field(default_factory=list)  # values that were alive before it
    values: list = field(default_factory=list)  # the most values beyond those at any moment
    results: list = field(default_factory=list)  # values that it gave


def blocks_of(network, unfold=(), apart=None, homes=None):
    """The blocks of a network, in the order of their definition.

    Each element of a list of modules is a block. What `unfold` matches is looked into. Modules and tensors that match a
    key of `apart` make blocks under the name that stands there. What remains is `in` before the first list and `out` after
    it, `embedders` and `head` at the top. `homes` says with which module a tensor goes that belongs to none.
    """
    blocks, owners = {}, {}

    def add(name, module, path):
        block = blocks.setdefault(name, Block(name))
        block.modules.append(module)
        owners[path] = block

    def unfolded(path):
        return any(re.fullmatch(pattern, path) for pattern in unfold)

    def walk(parent, prefix):
        place = "in"
        for name, child in parent.named_children():
            path = f"{prefix}{name}"
            if path in owners:
                continue
            if isinstance(child, torch.nn.ModuleList):
                place = "out"
                for index, element in child.named_children():
                    inner = f"{path}.{index}"
                    walk(element, f"{inner}.") if unfolded(inner) else add(inner, element, inner)
            elif unfolded(path):
                place = "out"
                walk(child, f"{path}.")
            else:
                add(f"{prefix}{place}" if prefix else {"in": "embedders", "out": "head"}[place], child, path)

    for path, module in network.named_modules():
        for pattern, name in (apart or {}).items():
            if match := re.fullmatch(pattern, path):
                add(match.expand(name), module, path)
    walk(network, "")

    modules, weights = dict(network.named_modules()), dict(network.named_parameters())
    repeated = set(dict(network.named_parameters(remove_duplicate=False))) - set(weights)
    for name, tensor in network.state_dict().items():
        if name not in repeated:
            path = (homes or {}).get(name, name)
            for pattern, block in (apart or {}).items():
                if re.fullmatch(pattern, name):
                    owners[name] = blocks.setdefault(block, Block(block))
            owner = max((path_ for path_ in owners if f"{path}.".startswith(f"{path_}.")), key=len, default=None)
            block = owners[owner] if owner is not None else blocks.setdefault("head", Block("head"))
            matrix = tensor.ndim > 1 and isinstance(modules[name.rpartition(".")[0]], MATRICES)
            block.tensors.append((tensor.numel(), matrix))
    return [block for block in blocks.values() if block.tensors]


class Recorder(TorchDispatchMode):
    """Counts operations and living values in the blocks of a network during one forward pass."""

    def __init__(self, network, blocks, inputs):
        super().__init__()
        weights = [*network.parameters(), *network.buffers()]
        self.weights = {StorageWeakRef(tensor.untyped_storage()).cdata for tensor in weights}
        self.blocks, self.inputs = blocks, inputs
        self.alive, self.running, self.order, self.hooks = {}, [], [], []

    def __enter__(self):
        for block in self.blocks:
            for counts in (block.operations, block.carried, block.values, block.results):
                counts.append(0)
            for module in block.modules:
                self.hooks.append(module.register_forward_pre_hook(lambda *_, block=block: self.enter(block)))
                self.hooks.append(module.register_forward_hook(lambda _, __, out: self.leave(out)))
        self.attention, F.scaled_dot_product_attention = F.scaled_dot_product_attention, self.attend
        self.track(self.inputs)
        return super().__enter__()

    def __exit__(self, *error):
        F.scaled_dot_product_attention = self.attention
        for hook in self.hooks:
            hook.remove()
        return super().__exit__(*error)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        if function.overloadpacket in flop_registry:
            self.count(flop_registry[function.overloadpacket](*args, **(kwargs or {}), out_val=out))
        self.track(out)
        return out

    def attend(self, query, key, value, *_, **__):
        """Attention that never holds its scores, as fused kernels do it."""
        self.count(2 * math.prod(query.shape[:-1]) * key.shape[-2] * (query.shape[-1] + value.shape[-1]))
        return query.new_empty(*query.shape[:-1], value.shape[-1])

    def count(self, operations):
        """Adds operations to the innermost block that runs."""
        if self.running:
            self.running[-1][0].operations[-1] += operations

    def track(self, tensors):
        """Adds tensors to those that are alive, and notes how much that makes."""
        for tensor in tree_leaves(tensors):
            if isinstance(tensor, torch.Tensor):
                storage = StorageWeakRef(tensor.untyped_storage())
                if storage.cdata not in self.weights:
                    values = tensor.untyped_storage().nbytes() // tensor.element_size()
                    self.alive[storage.cdata] = (storage, values * (2 if tensor.is_complex() else 1))
        now = self.now()
        for block, before in self.running:
            block.values[-1] = max(block.values[-1], now - before)

    def now(self):
        """Values that are alive."""
        self.alive = {key: entry for key, entry in self.alive.items() if not entry[0].expired()}
        return sum(values for _, values in self.alive.values())

    def enter(self, block):
        """A pass through a block begins."""
        self.order = [other for other in self.order if other is not block] + [block]
        before = self.now()
        block.carried[-1] = max(block.carried[-1], before)
        self.running.append((block, before))

    def leave(self, out):
        """It ends."""
        block, _ = self.running.pop()
        block.results[-1] += sum(tensor.numel() for tensor in tree_leaves(out) if isinstance(tensor, torch.Tensor))


def record(network, blocks, runs):
    """Records a pass for each `(function, inputs)` of `runs`. Gives the blocks that ran, in the order in which they
    did, after those that did not."""
    for call, inputs in runs:
        with Recorder(network, blocks, inputs) as recorder:
            call(**inputs)
    ran = {id(block) for block in recorder.order}
    return [block for block in blocks if id(block) not in ran] + recorder.order


def polynomial(monomials, sizes, measured, tolerance):
    """The polynomial {monomial: coefficient} that gives what was measured at `sizes`; a monomial is a string of the
    sizes' letters."""
    rows = [[math.prod(size[letter] for letter in name if letter != "1") for name in monomials] for size in sizes]
    matrix, target = np.array(rows, float), np.array(measured, float)
    if not target.any():
        return {}
    scale = matrix.max(axis=0)
    solution = np.linalg.lstsq(matrix / scale, target, rcond=None)[0] / scale
    solution = np.round(solution, 2)  # attention on latents that are eight times coarser has fractions
    error = (np.abs(matrix @ solution - target) / target.max()).max()
    assert error <= tolerance, f"{monomials} miss what was measured by {error}: {solution}"
    found = zip(monomials, solution.tolist())
    return {name: int(value) if value.is_integer() else value for name, value in found if value}
