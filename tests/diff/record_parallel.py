# SPDX-License-Identifier: Apache-2.0
"""record_parallel.py OUT [NAME...]: runs of transformers' own tensor and expert parallelism.

Trains small models for two steps on the CPU as one rank of torch's "fake" group (collectives copy
nothing), cut by transformers' apply_tensor_parallelism and apply_expert_parallelism, and writes
OUT/NAME.json (config, plan) and OUT/NAME.events.gz as make_reference.py does: every storage that the run makes, in order.
reference.py compares them.  Needs torch and transformers; cases_parallel.py has the cases.
"""
import gc
import gzip
import json
import os
import re
import subprocess
import sys
import weakref

import record_pipeline as pipeline
from cases_parallel import CASES


class Events:
    """Births and deaths of CPU storages, in order."""

    def __init__(self):
        self.lines, self.live, self.refs, self.made, self.inside = [], {}, {}, 0, True

    def see(self, x):
        import torch
        if isinstance(x, (list, tuple)):
            for item in x:
                self.see(item)
            return
        if not isinstance(x, torch.Tensor):
            return
        x = getattr(x, "_local_tensor", x)
        if x.device.type != "cpu" or type(x).__name__ == "FakeTensor":  # DTensor tries shapes on fake ones
            return
        storage = x.untyped_storage()
        key, size = storage._cdata, storage.nbytes()
        if not size or key in self.live:
            return
        number = self.live[key] = self.made
        self.made += 1
        self.lines.append("a %d" % size)

        def dead(_):
            if self.live.get(key) == number:
                del self.live[key]
            self.refs.pop(number, None)
            self.lines.append("f %d" % number)
        self.refs[number] = weakref.ref(storage, dead)

    def phase(self, name):
        self.lines.append("p " + name)


def mode_of(events):
    """Sees what is below DTensor, and adds gradients in place where the engine would without a mode."""
    import torch
    from torch.distributed.tensor import DTensor
    from torch.utils._python_dispatch import TorchDispatchMode
    aten = torch.ops.aten

    def in_place(function, args, kwargs):
        if function is not aten.add.Tensor or torch.is_grad_enabled() or kwargs or len(args) != 2:
            return False
        a, b = args
        node = torch._C._current_autograd_node()
        if node is None or not re.search(r"Backward\d*$", node.name()) or sys.getrefcount(a) > 5:
            return False
        if not isinstance(b, torch.Tensor) or a.shape != b.shape or a.dtype != b.dtype:
            return False
        storage = a.untyped_storage()
        return torch._C._storage_Use_Count(storage._cdata) == 2 and \
            torch._prims_common.is_non_overlapping_and_dense(a)

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            if any(issubclass(t, DTensor) for t in types):
                return NotImplemented
            kwargs = kwargs or {}
            if events.adds and in_place(function, args, kwargs):
                aten.add_.Tensor(args[0], args[1])
                return args[0]
            out = function(*args, **kwargs)
            if os.environ.get("TRACE"):
                was = events.made
            on_host = function is aten.lift_fresh.default and events.step  # counters of steps
            if not on_host:
                events.see(out)
            if os.environ.get("TRACE") and events.made != was:
                events.lines.append("# %s %s" % (function, [tuple(t.shape) for t in (out if isinstance(out, (list, tuple)) else [out]) if isinstance(t, torch.Tensor)]))
            return out

    events.adds = events.step = False
    return Mode()


def fake_group(rank, ranks):
    import torch
    from torch.testing._internal.distributed.fake_pg import FakeStore
    torch.distributed.init_process_group("fake", store=FakeStore(), rank=rank, world_size=ranks)


def build(config, plan):
    import torch
    import transformers
    known = transformers.CONFIG_MAPPING[config["model_type"]].from_dict(config)
    cls = getattr(transformers, config["architectures"][0])
    attention = {"flash": "sdpa", "efficient": "sdpa"}.get(plan["attention"], plan["attention"])
    dtype = torch.bfloat16 if plan["precision"] == "bf16" else torch.float32
    with torch.device("meta"):
        return cls._from_config(known, attn_implementation=attention, dtype=dtype)


def materialise(model):
    """Zeros; buffers as the class makes them."""
    import torch
    model.to_empty(device="cpu")
    if model.config.get_text_config().tie_word_embeddings:
        model.tie_weights(recompute_mapping=False)
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()


def balanced():
    """A rank is told that the others send it what it sends them."""
    from transformers.distributed import expert_parallel
    expert_parallel.all_to_all_single = lambda out, given, group=None: out.copy_(given)


def parallelise(model, tp, ep, dp, pp):
    import torch
    balanced()
    from transformers.distributed.configuration_utils import DistributedConfig
    from transformers.distributed.utils import initialize_distributed_mesh
    config = DistributedConfig(tp_size=tp, ep_size=ep, fsdp_size=dp, pp_size=pp)
    _, mesh = initialize_distributed_mesh(config)
    tied = model.config.get_text_config().tie_word_embeddings
    if tied:  # from_pretrained ties behind the cut
        head = model.get_output_embeddings()
        head.weight = torch.nn.Parameter(head.weight.detach().clone())
    model = type(model).maybe_distribute_model(model, config, mesh)
    if tied:
        model.tie_weights(recompute_mapping=False)
    return model


def groups_of(model):
    """The Trainer's: with and without decay, each by mesh."""
    from torch.distributed.tensor import DTensor
    out = []
    for decay in (True, False):
        by_mesh = {}
        for name, p in model.named_parameters():
            plain = any(word in name for word in ("bias", "norm"))
            if p.requires_grad and plain != decay:
                by_mesh.setdefault(p.device_mesh if isinstance(p, DTensor) else None, []).append(p)
        out += [{"params": params, "weight_decay": 0.01 * decay} for params in by_mesh.values()]
    return out


def optimizer_of(model, plan):
    import torch
    kind = plan["optimizer"]
    if kind == "sgd":
        return torch.optim.SGD(groups_of(model), lr=1e-3, foreach=False)
    return torch.optim.AdamW(groups_of(model), lr=1e-3, fused=kind == "adamw_fused", foreach=kind == "adamw_foreach")


def clip(model):
    """Trainer._mixed_mesh_grad_norm, else accelerate's."""
    import torch
    from torch.distributed.tensor import DTensor
    from torch.nn.utils import clip_grads_with_norm_, get_total_norm
    by_mesh = {}
    for p in model.parameters():
        if p.grad is not None:
            by_mesh.setdefault(p.grad.device_mesh if isinstance(p.grad, DTensor) else None, []).append(p)
    if len(by_mesh) < 2:
        return torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    norms = []
    for params in by_mesh.values():
        norm = get_total_norm([p.grad for p in params])
        norms.append(norm.full_tensor() if isinstance(norm, DTensor) else norm)
    total = torch.linalg.vector_norm(torch.stack(norms))
    for params in by_mesh.values():
        clip_grads_with_norm_(params, 1.0, total)
    return total


def batch_of(plan):
    import torch
    shape = (plan["micro_batch"], plan["seq_len"])
    ids, labels, mask = (torch.ones(shape, dtype=torch.long) for _ in range(3))
    return {"input_ids": ids, "labels": labels, "attention_mask": mask}


def steps(model, plan, events):
    import torch
    optim, at = optimizer_of(model, plan), ""
    model.get_output_embeddings().register_forward_hook(lambda *_: events.phase(at + "loss"))
    for step in range(1, plan["steps"] + 1):
        n = plan["grad_accumulation"]
        events.phase("step%d.inputs" % step)
        batches = [batch_of(plan) for _ in range(n)]
        for i, batch in enumerate(batches):
            at = "step%d." % step if n == 1 else "step%d.micro%d." % (step, i + 1)
            items = torch.ones((), dtype=torch.long)
            events.phase(at + "forward")
            out = model(use_cache=False, num_items_in_batch=items, **batch)
            loss = out.loss
            del out, items
            events.phase(at + "backward")
            events.adds = True
            loss.backward()
            events.adds = False
            del loss
        events.phase("step%d.optimizer" % step)
        norm = clip(model) if plan["clip_grad"] else None
        events.step = True
        optim.step()
        events.step = False
        del norm
        events.phase("step%d.after" % step)
        optim.zero_grad()
        del batch, batches
        gc.collect()


def infer(model, plan, events):
    """One forward in evaluation, without a cache."""
    import torch
    model.eval()
    model.get_output_embeddings().register_forward_hook(lambda *_: events.phase("loss"))
    events.phase("forward")
    batch = batch_of(plan)
    labels = batch.pop("labels")
    with torch.no_grad():
        out = model(use_cache=False, **batch)
    del out, batch, labels


def record(name, out):
    import torch
    config, plan = CASES[name]
    words = dict(w.split("=") for w in plan.get("more", []))
    tp, ep, dp, pp, rank = (int(words.get(k, k != "rank")) for k in ("tp", "ep", "gpus", "pp", "rank"))
    torch.manual_seed(0)
    gc.disable()
    fake_group(rank, tp * dp * pp)
    model = build(config, plan)
    if tp * ep * pp > 1:
        model = parallelise(model, tp, ep, dp, pp)
    materialise(model)
    if plan["gradient_checkpointing"] != "off":
        model.gradient_checkpointing_enable({"use_reentrant": plan["gradient_checkpointing"] == "reentrant"})
        model.enable_input_require_grads()
    model.train()
    events = Events()
    events.phase("load")
    for x in (*model.parameters(), *model.buffers()):
        events.see(x)
    with mode_of(events):
        if pp > 1:
            pipeline.steps(model, plan, events, pp, rank // tp, batch_of, optimizer_of, clip)
        else:
            (steps if plan["mode"] == "train" else infer)(model, plan, events)
        lines = list(events.lines)
    json.dump({"config": config, "plan": plan}, open(os.path.join(out, name + ".json"), "w"))
    with gzip.open(os.path.join(out, name + ".events.gz"), "wt") as f:
        f.write("\n".join(lines) + "\n")


def main():
    out, names = sys.argv[1], sys.argv[2:] or list(CASES)
    os.makedirs(out, exist_ok=True)
    if os.environ.get("RECORD"):
        record(names[0], out)
        sys.stdout.flush()
        os._exit(0)
    env = dict(os.environ, RECORD="1", OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1")
    for name in names:
        subprocess.run([sys.executable, sys.argv[0], out, name], env=env, check=True)


if __name__ == "__main__":
    main()
