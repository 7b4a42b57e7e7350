#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_cases.py [--check] [--real] [--oracle DIR] FILE...: what the real framework says about each case.

Runs the code of every case with real torch operators on fake CUDA tensors and rewrites the lines
that begin with '>'.  The code is the template language, which is also Python: names of ops are
functions of this file.  Run by hand, with the Python of the training oracle (its README says how);
the tests read the text alone.  --check only shows what would change.

A case "with card" is about what torch does for plain tensors only (bias added in place ...): it runs
with real tensors on the CPU, allocations as the profiler saw them.  --real shows where all cases
differ when run so: a look at what fake tensors cannot tell; CPU kernels have buffers of their own.
"""
import contextlib
import difflib
import gc
import logging
import math
import os
import re
import sys
import weakref

HERE = os.path.dirname(os.path.abspath(__file__))
ORACLE = os.path.join(HERE, "..", "..", "..", "shared", "oracle")
if "--oracle" in sys.argv:
    at = sys.argv.index("--oracle")
    ORACLE = sys.argv[at + 1]
    del sys.argv[at:at + 2]
os.environ.setdefault("ORACLE_BUILD", os.path.join(os.environ.get("TMPDIR", "/tmp"), "oracle-build"))
os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path[:0] = [ORACLE, os.path.join(HERE, "..", "diff")]

import fakecuda  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch._C._profiler import _EventType  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402
from torch.profiler import ProfilerActivity, profile  # noqa: E402
from tracker import Box, Tracker  # noqa: E402

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16, "fp64": torch.float64,
          "i64": torch.int64, "i32": torch.int32, "bool": torch.bool, "u8": torch.uint8,
          "u64": torch.uint64, "c64": torch.complex64}
DEVICE = ["cuda"]
NAMES = {torch_dtype: name for name, torch_dtype in DTYPES.items()}


# ---- the ops, by the names of the template language ------------------------------------------------

def sizes(first, rest):
    return tuple(first) if isinstance(first, (tuple, list)) else (first, *rest)


def along(x, dim):
    return list(range(x.dim())) if dim is None else dim


def copy_into(x, start, y):
    x[..., start:start + y.shape[-1]].copy_(y)
    return x


def part(x, dim, start, length, step):
    end = start + (length - 1) * step + 1 if length else start
    size = x.shape[dim]
    if start < -size or length < 0 or (end + size if start < 0 else end) > size:
        raise ValueError("Python would cut it short")
    return slice(start, end if start >= 0 or end < 0 else None, step)


def refuse(text):
    raise ValueError(text)


def host_index(shape):
    return torch.zeros(shape[0], dtype=torch.int64, device="cpu")


CONV = {3: F.conv1d, 4: F.conv2d, 5: F.conv3d}
POOL = {3: F.avg_pool1d, 4: F.avg_pool2d}
TANH = {None: "none", "none": "none", "tanh": "tanh"}
OPS = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y, "neg": lambda x: -x, "add_": lambda x, y: x.add_(y),
    "pow": lambda x, p: x.pow(p), "rsqrt": torch.rsqrt, "exp": torch.exp,
    "sigmoid": torch.sigmoid, "tanh": torch.tanh, "relu": F.relu, "silu": F.silu,
    "baddbmm": lambda b, x, y, scaled=False: torch.baddbmm(b, x, y, alpha=0.5 if scaled else 1),
    "bloom_gelu": lambda x: bloom_gelu(x),
    "gelu": lambda x, approximate=None: F.gelu(x, approximate=TANH[approximate]),
    "to": lambda x, dtype: x.to(dtype), "compare": lambda x, y: x == y,
    "view": lambda x, *s: x.view(sizes(s[0], s[1:])),
    "reshape": lambda x, *s: x.reshape(sizes(s[0], s[1:])),
    "contiguous": lambda x: x.contiguous(), "clone": lambda x: x.clone(),
    "transpose": lambda x, a, b: x.transpose(a, b),
    "permute": lambda x, *d: x.permute(sizes(d[0], d[1:])),
    "slice": lambda x, dim, start, length, step=1:
        x[(slice(None),) * (dim % x.dim()) + (part(x, dim, start, length, step),)],
    "select": lambda x, dim, i: x.select(dim, i),
    "unsqueeze": lambda x, dim: x.unsqueeze(dim), "squeeze": lambda x, dim: x.squeeze(dim),
    "expand": lambda x, *s: x.expand(sizes(s[0], s[1:])),
    "pad": lambda x, dim, n, dim2=None, n2=0: F.pad(x, sum(
        ((0, n if d == dim % x.dim() else n2 if dim2 is not None and d == dim2 % x.dim() else 0)
         for d in reversed(range(min(dim % x.dim(), x.dim() if dim2 is None else dim2 % x.dim()), x.dim()))), ())),
    "batch_norm": lambda x, w, b, mean, var: F.batch_norm(x, mean, var, w, b, training=True),
    "max_pool": lambda x, n, step, padding=0: F.max_pool2d(x, n, step, padding),
    "average_all": lambda x: F.adaptive_avg_pool2d(x, 1),
    "roll": lambda x, dims: torch.roll(x, (1,) * dims, tuple(range(dims))),
    "relu_": lambda x: F.relu(x, inplace=True), "silu_": lambda x: F.silu(x, inplace=True),
    "hardswish_": lambda x: F.hardswish(x, inplace=True), "hardtanh_": lambda x: F.hardtanh(x, 0.0, 6.0, inplace=True),
    "hardswish": F.hardswish, "hardsigmoid": F.hardsigmoid,
    "erf": torch.erf, "log": torch.log, "sin": torch.sin, "cos": torch.cos, "abs": torch.abs, "root": torch.sqrt,
    "inverse": torch.reciprocal, "softplus": F.softplus, "mish": F.mish, "leaky_relu": F.leaky_relu, "elu": F.elu,
    "stepwise": torch.floor, "made_of": lambda x, shape: x.mean([i for i, n in enumerate(shape) if n != x.shape[i]], True),
    "extremes": lambda x, shape: x.amax([i for i, n in enumerate(shape) if n != x.shape[i]], True),
    "keeping": lambda xs, shapes, dtypes: [Keeping.apply(shapes[0], *xs)], "greater": torch.maximum,
    "scattered": lambda x, i, u: torch.index_put(x, (i,), u),
    "greatest_of": lambda x, shape: F.max_pool2d(x, x.shape[-1] // shape[-1]),
    "pool_of": lambda x, shape: F.avg_pool2d(x, x.shape[-1] // shape[-1]),
    "fixed_norm": lambda x, w, b, mean, var: F.batch_norm(x, mean, var, w, b, training=False),
    "group_norm": lambda x, w, b, groups: F.group_norm(x, groups, w, b),
    "fused_rms_norm": lambda x, w: torch._fused_rms_norm(x, [x.shape[-1]], w, 1e-5)[0],
    "is_tensor": torch.is_tensor,
    "unbind": lambda x, dim=0: x.unbind(dim),
    "split": lambda x, parts, dim: x.split(parts, dim),
    "linear": lambda x, w, b=None: F.linear(x, w, b),
    "matmul": torch.matmul, "bmm": torch.bmm,
    "conv": lambda x, w, b=None, stride=1, padding=0: CONV[x.dim()](x, w, b, stride, padding),
    "layer_norm": lambda x, w=None, b=None: F.layer_norm(x, x.shape[-1:], w, b),
    "mean": lambda x, dim=None, keep=True: x.mean(dim, keep) if dim is not None else x.mean(),
    "sum": lambda x, dim=None, keep=True: x.sum(dim, keep) if dim is not None else x.sum(),
    "softmax": lambda x, dim=-1, dtype=None: F.softmax(x, dim, dtype=dtype),
    "log_softmax": lambda x, dim=-1, dtype=None: F.log_softmax(x, dim, dtype=dtype),
    "norm": lambda x, dim=-1: x.norm(p=2, dim=dim, keepdim=True),
    "logsigmoid": F.logsigmoid, "repeat": lambda x, *n: x.repeat(sizes(n[0], n[1:])),
    "resize": lambda x, h, w: F.interpolate(x, size=(h, w), mode="bilinear", align_corners=False),
    "columns": lambda x, n: F.unfold(x, n, stride=n),
    "avg_pool": lambda x, n: POOL[x.dim()](x, n, n),
    "gather": lambda x, places: x.gather(-1, places), "copy_into": copy_into,
    "masked_fill": lambda x, mask: x.masked_fill(mask, 0.5),
    "as_complex": torch.view_as_complex, "as_real": torch.view_as_real,
    "where": torch.where, "clamp": lambda x, least=None, most=None: x.clamp(min=least, max=most),
    "row_max": lambda x: list(x.max(dim=-1, keepdim=True)), "require_grad": lambda x: x.requires_grad_(),
    "addmm": torch.addmm, "topk": lambda x, k: list(torch.topk(x, k, dim=-1)),
    "div_": lambda x, y: x.div_(y),
    "grouped_mm": lambda x, w, offsets: torch._grouped_mm(x, w, offs=offsets),
    "embedding": lambda w, ids: F.embedding(ids, w), "cat": lambda xs, dim=0: torch.cat(xs, dim),
    "stack": lambda xs, dim=0: torch.stack(xs, dim),
    "masked_scatter": lambda x, mask, source: x.masked_scatter(mask, source),
    "index": lambda x, shape, *i: x[i or host_index(shape)],
    "nll_loss": lambda x, target: F.nll_loss(x, target),
    "new": lambda shape, dtype: torch.empty(tuple(shape), dtype=dtype, device=DEVICE[0]),
    "strided": lambda x, shape, strides: x.as_strided(shape, strides),
    "shape": lambda x: tuple(x.shape), "dtype": lambda x: x.dtype, "numel": lambda x: x.numel(),
    "is_list": lambda x=None: isinstance(x, (list, tuple)), "kv_cache": lambda: [0], "len": len,
    "floor": math.floor, "ceil": math.ceil, "sqrt": math.sqrt, "error": refuse, "refuse": refuse,
    "true": True, "false": False, "none": None, **DTYPES,
}


def bloom_gelu(x):
    from transformers.models.bloom.modeling_bloom import GeLUFunction
    return GeLUFunction.apply(x)


def grouped(q, k):
    return q.shape[1] != k.shape[1]


def sdpa(q, k, v, mask=None, causal=False, p=0.0, gqa=True):
    function = F.scaled_dot_product_attention if DEVICE[0] == "cuda" else fakecuda.REAL_SDPA
    return function(q, k, v, attn_mask=mask, dropout_p=p, is_causal=causal, enable_gqa=gqa and grouped(q, k))


OPS["sdpa"] = sdpa


class Keeping(torch.autograd.Function):
    """a function that keeps all that it is given"""

    @staticmethod
    def forward(ctx, shape, *xs):
        ctx.save_for_backward(*xs)
        return torch.empty(shape, dtype=xs[0].dtype, device=xs[0].device)

    @staticmethod
    def backward(ctx, g):
        return (None, *(torch.empty_like(x) for x in ctx.saved_tensors))


class Packed(torch.autograd.Function):
    """A frozen matrix that is not there as a tensor, in the way of bitsandbytes' MatMul4Bit and
    MatMul8bitLt: what they hold is held, what they make in backward is made."""

    @staticmethod
    def forward(ctx, x, outputs, keeps, constants, dtype):
        ctx.more = (outputs, x.shape[-1], constants, dtype or x.dtype)
        if keeps:
            ctx.save_for_backward(x)
        return torch.empty(*x.shape[:-1], outputs, dtype=x.dtype, device=x.device)

    @staticmethod
    def backward(ctx, g):
        outputs, inputs, constants, dtype = ctx.more

        def unpacked():
            nested = torch.empty(constants, device=g.device) if constants else None
            w = torch.empty(outputs, inputs, dtype=dtype, device=g.device)
            del nested
            return w
        return torch.matmul(g, unpacked().to(g.dtype)), None, None, None, None


class Cut(torch.autograd.Function):
    """The same of cut-cross-entropy."""

    @staticmethod
    def forward(ctx, x, w, target):
        lse, each = torch.empty(x.shape[0], device=x.device), torch.empty(x.shape[0], device=x.device)
        ctx.save_for_backward(x, w, target, lse)
        return each.sum()

    @staticmethod
    def backward(ctx, g):
        x, w, target, lse = ctx.saved_tensors
        return (torch.empty_like(x) if ctx.needs_input_grad[0] else None,
                torch.empty_like(w) if ctx.needs_input_grad[1] else None, None)


class Compiled(torch.autograd.Function):
    """A loss as the min-cut partitioner cuts it: the logits and two numbers a row are kept."""

    @staticmethod
    def forward(ctx, x, target):
        rows = [torch.empty(x.shape[0], device=x.device) for _ in range(2)]
        ctx.save_for_backward(x, target, *rows)
        return torch.empty((), device=x.device)

    @staticmethod
    def backward(ctx, g):
        return torch.empty_like(ctx.saved_tensors[0]), None


OPS["compiled_loss"] = Compiled.apply


def liger(name, *args):
    """liger-kernel's own functions; their kernels are not launched."""
    import variants

    variants.without_launches()
    from liger_kernel import ops

    return getattr(ops, name).apply(*args)


OPS["cut_loss"] = Cut.apply
OPS["liger_loss"] = lambda x, w, target: liger(
    "LigerFusedLinearCrossEntropyFunction", x, w, target, None, None, -100, 0.0, 0.0, "sum")[0]
OPS["liger_rms_norm"] = lambda x, w, in_place=True: liger("LigerRMSNormFunction", x, w, 1e-6, 0.0, "llama", in_place)
OPS["liger_layer_norm"] = lambda x, w, b: liger("LigerLayerNormFunction", x, w, b, 1e-6)
OPS["liger_glu"] = lambda gate, up: liger("LigerSiLUMulFunction", gate, up)
OPS["liger_rope"] = lambda q, k, cos, sin: liger("LigerRopeFunction", q, k, cos, sin)
OPS["packed_linear"] = lambda x, outputs, keeps=False, constants=0, dtype=None: Packed.apply(
    x, outputs, keeps, constants, dtype)


# ---- ranks of a mesh: DTensor's own redistribution in torch's "fake" group, which copies nothing.  With
# real tensors: fake ones make another when a collective is waited for.

MESHES = {}


def mesh_of(ranks):
    """Made before a case runs: a mesh has small tensors of its own."""
    import torch.distributed as dist
    from torch.distributed.device_mesh import DeviceMesh
    from torch.testing._internal.distributed.fake_pg import FakeStore
    if not MESHES:
        dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=4)
        MESHES.update((n, DeviceMesh("cpu", list(range(n)))) for n in (2, 4))
    return MESHES[ranks]


def redistributed(x, ranks, before, after, shape=None):
    import torch.distributed.tensor as t
    place = {"partial": t.Partial(), "whole": t.Replicate(), "last": t.Shard(x.dim() - 1), "rows": t.Shard(0)}
    mesh = mesh_of(ranks)
    more = {} if shape is None else {"shape": shape, "stride": torch.empty(shape, device="meta").stride()}
    y = t.DTensor.from_local(x, mesh, [place[before]], run_check=False, **more)
    return y.redistribute(mesh, [place[after]]).to_local()


class AsPartial(torch.autograd.Function):
    """DTensor does so inside an op only: addmm with a partial product and a whole bias, which is divided
    (Partial._partition_value)."""

    @staticmethod
    def forward(ctx, x):
        return torch.empty_like(x)

    @staticmethod
    def backward(ctx, g):
        return g


def reduced_gradient(x):
    """The input of a product with a part of a weight: its gradient is partial."""
    from torch.distributed.tensor import DTensor, Partial, Replicate
    y = DTensor.from_local(x, mesh_of(2), [Replicate()], run_check=False)
    return y.to_local(grad_placements=[Partial()])


def in_place(x, forward):
    from transformers.distributed.parallel_utils import _AllReduceBackward, _AllReduceForward
    mesh = mesh_of(2)
    return (_AllReduceForward if forward else _AllReduceBackward).apply(x, mesh.get_group())


def gather_last(x, ranks, width=None):
    shape = (*x.shape[:-1], width or x.shape[-1] * ranks)
    return redistributed(x, ranks, "last", "whole", shape)


OPS["all_reduce"] = lambda x: redistributed(x, 2, "partial", "whole")
OPS["as_partial"] = lambda x: AsPartial.apply(x)
OPS["all_reduce_gradient"] = lambda x: reduced_gradient(x)
OPS["all_reduce_"], OPS["all_reduce_gradient_"] = (lambda x: in_place(x, True)), (lambda x: in_place(x, False))
OPS["gather_last"] = gather_last
def all_to_all(x, rows):
    from torch.distributed._functional_collectives import all_to_all_single_autograd
    from transformers.distributed.parallel_utils import _WaitTensor
    out = all_to_all_single_autograd(x, [rows - rows // 2, rows // 2], [len(x) - len(x) // 2, len(x) // 2],
                                     mesh_of(2).get_group())
    return _WaitTensor.apply(out)


def put_rows(x, places):
    out = torch.empty_like(x)
    out[places] = x
    return out


def flash_block(query, key, value, is_causal, **_):
    """What the flash kernel makes, without a card."""
    b, h, s, _ = query.shape
    return (torch.empty_like(query.transpose(1, 2), memory_format=torch.contiguous_format).transpose(1, 2),
            torch.empty(b, h, s, device=query.device), None, None, s, s,
            torch.empty(2, dtype=torch.uint64, device=query.device),
            torch.empty((), dtype=torch.uint64, device=query.device), None)


def flash_block_backward(query, key, value, **_):
    return tuple(torch.empty_like(x.transpose(1, 2), memory_format=torch.contiguous_format).transpose(1, 2)
                 for x in (query, key, value))


class Exchange:
    """Collectives without another fake tensor for the wait."""
    AsyncCollectiveTensor = type("Never", (), {})

    @staticmethod
    def all_gather_tensor(x, gather_dim, group):
        return x.new_empty(x.numel() * torch.distributed.get_world_size(group))

    @staticmethod
    def permute_tensor(x, places, group):
        return torch.empty_like(x)


def ring():
    """torch's module, as the last rank sees it."""
    from torch.distributed.tensor.experimental import _attention
    _attention.dist.get_rank = lambda group=None: torch.distributed.get_world_size(group) - 1
    _attention.ft_c = Exchange
    return _attention


class Ring(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, ranks):
        group = mesh_of(ranks).get_group()
        out, lse, *rest = ring()._templated_ring_attention(group, 2, flash_block, q, k, v, is_causal=True)
        ctx.group = group
        ctx.save_for_backward(k, q, v, lse, out, rest[4], rest[5])
        return out

    @staticmethod
    def backward(ctx, g):
        k, q, v, lse, out, *_ = ctx.saved_tensors
        gradients = ring()._templated_ring_attention_backward(
            ctx.group, 2, flash_block_backward, grad_out=g, grad_out_name="grad_out", query=q, key=k, value=v,
            out=out, logsumexp=lse, is_causal=True)
        return (*gradients[:3], None)


OPS["ring_attention"] = Ring.apply
OPS["all_to_all"], OPS["put_rows"] = all_to_all, put_rows
OPS["split_rows"] = lambda x, ranks: redistributed(x, ranks, "whole", "rows")
OPS["gather_rows"] = lambda x, ranks: redistributed(x, ranks, "rows", "whole")
OPS["masked_fill_"] = lambda x, mask: x.masked_fill_(mask, 0.5)
OPS["split_last"] = lambda x, ranks: redistributed(x, ranks, "whole", "last")


# ---- a case ----------------------------------------------------------------------------------------

class Case:
    """Lines of one case: header, how it is run, operands, code; the expectations follow."""

    def __init__(self, lines):
        self.given = [line for line in lines if not line.startswith(">")]
        self.options, self.operands, self.code, self.gradient = {}, [], [], None
        for line in self.given:
            words = line.split()
            if not words or words[0] in ("case", "#"):
                continue
            if words[0] == "with":
                self.options = dict((w.split("=") + ["on"])[:2] for w in words[1:])
            elif words[0] == "gradient":
                self.gradient = numbers(words[2])
            elif line.startswith("|"):
                self.code.append(line[2:])
            else:
                self.operands.append(words)


def numbers(text):
    return tuple(int(n) for n in text.split(",")) if text != "scalar" else ()


def filled(x):
    """Values do not matter, but indices have to be inside."""
    return x.zero_() if DEVICE[0] == "cpu" else x


def make(shape, dtype, strides=None):
    if strides is not None:
        return filled(torch.empty_strided(shape, strides, dtype=dtype, device=DEVICE[0]))
    return filled(torch.empty(shape, dtype=dtype, device=DEVICE[0]))


def operand(words):
    name, dtype, shape, rest = words[0], DTYPES[words[1]], numbers(words[2]), words[3:]
    x = make(shape, dtype, numbers(rest[rest.index("strides") + 1]) if "strides" in rest else None)
    return name, x.requires_grad_("grad" in rest or "param" in rest)


class Fake:
    """Memory of fake CUDA tensors, as the oracle's tracker sees it."""

    def __init__(self):
        self.tracker = Tracker()
        self.start = 0

    def __enter__(self):
        self.tracker.__enter__()
        return self

    def __exit__(self, *error):
        self.tracker.__exit__(*error)

    def key(self, tensor):
        return self.tracker.sid_of(tensor)

    def saved(self):
        return [sid for box, _, sid, *_ in self.tracker.saved if box() is not None]

    def hooks(self):
        return torch.autograd.graph.saved_tensors_hooks(self.tracker.pack, self.tracker.unpack)

    def during(self, function, backward=False):
        """The function's result, and (key, bytes) of each allocation, (key, None) of each free."""
        start = len(self.tracker.events)
        self.tracker.in_backward = backward
        result = function()
        return result, [(sid, self.tracker.records[sid].nbytes if sign > 0 else None)
                        for sign, sid in self.tracker.events[start:]]


BINARY = {"aten::mul", "aten::add", "aten::sub", "aten::rsub", "aten::div", "aten::pow", "aten::eq",
          "aten::mul_", "aten::add_"}


class Real:
    """Memory of real CPU tensors, as the profiler sees it; a storage is its address."""

    def __init__(self):
        self.boxes = []

    def __enter__(self):
        DEVICE[0] = "cpu"
        mesh_of(2)
        return self

    def __exit__(self, *error):
        DEVICE[0] = "cuda"

    def key(self, tensor):
        return tensor.untyped_storage().data_ptr() if tensor.untyped_storage().nbytes() else None

    def pack(self, tensor):
        box = Box(tensor.detach())
        self.boxes.append((weakref.ref(box), self.key(tensor)))
        return box

    def hooks(self):
        return torch.autograd.graph.saved_tensors_hooks(self.pack, lambda box: box.tensor)

    def saved(self):
        return [key for box, key in self.boxes if box() is not None and key is not None]

    def during(self, function, backward=False):
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
            result = function()
        found = []

        def walk(event, path):
            if event.tag == _EventType.Allocation:
                found.append((event.start_time_ns, event.extra_fields, path))
            for child in event.children:
                walk(child, path + [event.name])

        for event in profiler.profiler.kineto_results.experimental_event_tree():
            walk(event, [])
        events, numbers_of_python = [], set()
        for _, fields, path in sorted(found, key=lambda f: f[0]):
            # a Python number is a tensor on the CPU here, none on a card
            if 0 < fields.alloc_size <= 8 and (path[-1:] and path[-1] in BINARY or (
                    BINARY & set(path[-4:]) and "aten::_to_copy" in path)):
                numbers_of_python.add(fields.ptr)
            elif fields.alloc_size > 0:
                events.append((fields.ptr, fields.alloc_size))
            elif fields.ptr in numbers_of_python:
                numbers_of_python.discard(fields.ptr)
            else:
                events.append((fields.ptr, None))
        return result, events


class Run:
    """One run of a case; its lines are what it did."""

    def __init__(self, case, memory):
        self.case, self.lines, self.names, self.made = case, [], {}, 0
        self.memory = memory

    def name(self, tensor):
        key = self.memory.key(tensor)
        return "nothing" if key is None else str(self.names.get(key, "?"))

    def note(self, events):
        """Allocations in order, frees between two of them in order of their numbers."""
        out, frees = [], []
        for key, nbytes in events + [(None, 1)]:
            if nbytes is None:
                frees.append(self.names.get(key, 0))
                continue
            out += ["-%s" % n for n in sorted(frees)]
            frees = []
            if key is not None:
                self.made += 1
                self.names[key] = self.made
                out.append("%d=%d" % (self.made, nbytes))
        return " ".join(out) or "nothing"

    def layout(self, x):
        strides = [str(s) if n != 1 and x.numel() else "*" for n, s in zip(x.shape, x.stride())]
        shape = ",".join(map(str, x.shape)) or "scalar"
        strides = " strides " + ",".join(strides) if strides else ""
        return "%s %s%s in %s" % (NAMES[x.dtype], shape, strides, self.name(x))

    def say(self, what, text):
        self.lines.append("> %-9s %s" % (what, text))

    def value(self, v):
        if isinstance(v, torch.Tensor):
            self.say("output", self.layout(v) + (" grad" if v.requires_grad else ""))
        elif isinstance(v, (tuple, list)):
            for item in v:
                self.value(item)
        elif isinstance(v, torch.dtype):
            self.say("output", NAMES[v])
        elif v is None or isinstance(v, bool):
            self.say("output", str(v).lower())
        else:
            self.say("output", "%g" % v if isinstance(v, float) else "%d" % v)

    def forward(self, function, operands):
        options = self.case.options
        fakecuda.ATTENTION["backend"] = options.get("attention", "flash")
        dtype = DTYPES.get(options.get("autocast"))
        backend = sdpa_kernel([SDPBackend.MATH]) if DEVICE[0] == "cpu" else contextlib.nullcontext()
        with self.memory.hooks(), backend:
            with torch.autocast(DEVICE[0], dtype=dtype or torch.bfloat16, enabled=dtype is not None):
                return function(*operands)

    def backward(self, out, operands):
        g = make(out.shape, out.dtype, self.case.gradient)
        self.names[self.memory.key(g)] = "g"
        _, events = self.memory.during(lambda: torch.autograd.backward([out], [g]), True)
        self.say("backward", self.note(events))
        for name, x in operands:
            if x.requires_grad:
                self.say("gradient", "%s %s" % (name, self.layout(x.grad) if x.grad is not None
                                                else "none"))

    def run(self):
        names = dict(OPS, dropout=lambda x, p: F.dropout(x, p, "eval" not in self.case.options))
        arguments = ", ".join(words[0] for words in self.case.operands)
        body = "\n".join("  " + line for line in self.case.code)
        exec("def case(%s):\n%s" % (arguments, body), names)
        with self.memory:
            operands = [operand(words) for words in self.case.operands]
            for name, x in operands:
                self.names[self.memory.key(x)] = name
            try:
                out, events = self.memory.during(
                    lambda: self.forward(names["case"], [x for _, x in operands]))
            except Exception as error:  # noqa: BLE001  whatever torch says, the case fails
                self.lines, self.why = ["> fails"], error
                return self.lines
            self.say("forward", self.note(events))
            self.value(out)
            self.say("saved", " ".join(str(self.names[key]) for key in self.memory.saved()) or "nothing")
            first = next((o for o in (out if isinstance(out, (tuple, list)) else [out])
                          if isinstance(o, torch.Tensor) and o.requires_grad and o.grad_fn), None)
            if first is not None:
                self.backward(first, operands)
        return self.lines


# ---- files -----------------------------------------------------------------------------------------

def remade(text, real):
    out = []
    for block in re.split(r"\n(?=\n)", text):
        lines = block.split("\n")
        if not any(line.startswith("case ") for line in lines):
            out.append(block)
            continue
        case = Case(lines)
        if real or "card" in case.options:
            run = Run(case, Real())
            run.run()
        else:
            with fakecuda.fake_mode():
                run = Run(case, Fake())
                run.run()
        if run.lines == ["> fails"]:
            print("%s: %s" % (next(l for l in lines if l.startswith("case")), str(run.why).split("\n")[0][:120]))
        body = [line for line in lines if not line.startswith(">")]
        end = [""] if body[-1] == "" else []
        out.append("\n".join(body[:len(body) - len(end)] + run.lines + end))
    return "\n".join(out)


def main():
    real, check = "--real" in sys.argv, "--check" in sys.argv or "--real" in sys.argv
    fakecuda.setup()
    logging.getLogger("torch._subclasses.fake_tensor").disabled = True
    gc.disable()
    changed = False
    for path in [a for a in sys.argv[1:] if not a.startswith("--")]:
        with open(path, encoding="utf-8") as handle:
            old = handle.read()
        new = remade(old, real)
        changed = changed or new != old
        if check:
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), path, path, n=8))
        elif new != old:
            with open(path, "w", encoding="utf-8") as handle:
                handle.write(new)
        print(path, new.count("\ncase ") + new.startswith("case "), "cases")
    sys.exit(1 if check and changed else 0)


main()
