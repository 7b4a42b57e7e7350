# SPDX-License-Identifier: Apache-2.0
"""What record_parallel.py needs for pipeline stages: torch's own Schedule1F1B around the stage that
transformers' apply_pipeline_parallelism leaves of a model."""


def patch(hidden):
    """Stages tell each other shapes by pickles, which a group that copies nothing cannot hand over."""
    import torch.distributed as dist

    def receive(objects, **_):
        objects[0] = (hidden.to("meta"),)

    dist.recv_object_list, dist.send_object_list = receive, lambda *_, **__: None


def stage_of(model):
    """The model as a stage: ids or hidden states in, hidden states or logits out."""
    import torch
    first, last = model._pp_stage.pp_is_first_stage, model._pp_stage.pp_is_last_stage
    del model.forward  # transformers' own, which knows no backward

    class Stage(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, x, attention_mask=None):
            given = {"input_ids" if first else "inputs_embeds": x}
            if last:
                return self.model(use_cache=False, attention_mask=attention_mask, **given).logits
            return self.model.base_model(use_cache=False, attention_mask=attention_mask, **given).last_hidden_state

    return Stage()


def schedule_of(model, plan, pp, rank):
    import torch
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B
    hidden = torch.empty(plan["micro_batch"], plan["seq_len"], model.config.hidden_size, dtype=model.dtype,
                         device="meta")
    patch(hidden)
    stage = PipelineStage(stage_of(model), rank, pp, torch.device("cpu"))

    def loss(logits, labels):
        return model.loss_function(logits=logits, labels=labels, vocab_size=model.config.vocab_size)

    return Schedule1F1B(stage, plan["grad_accumulation"], loss_fn=loss)


def steps(model, plan, events, pp, rank, batch_of, optimizer_of, clip):
    import gc
    events.step = True  # a counter on the host
    schedule, optim = schedule_of(model, plan, pp, rank), optimizer_of(model, plan)
    events.step = False
    stage, now = schedule._stage, {"at": ""}
    forward, backward = stage.forward_one_chunk, stage.backward_one_chunk

    def phase(what, k):
        name = now["at"] if plan["grad_accumulation"] == 1 else "%smicro%d." % (now["at"], k + 1)
        events.phase(name + what)

    def forward_one_chunk(k, *args, **kwargs):
        phase("forward", k)
        return forward(k, *args, **kwargs)

    def backward_one_chunk(k, *args, **kwargs):
        phase("backward", k)
        events.adds = True
        out = backward(k, *args, **kwargs)
        events.adds = False
        return out

    def loss_begins(*_):
        if schedule._stage_initialized:
            phase("loss", len(schedule._internal_losses))

    stage.forward_one_chunk, stage.backward_one_chunk = forward_one_chunk, backward_one_chunk
    if rank == pp - 1:
        model.get_output_embeddings().register_forward_hook(loss_begins)
    whole = dict(plan, micro_batch=plan["micro_batch"] * plan["grad_accumulation"])
    for step in range(1, plan["steps"] + 1):
        now["at"] = "step%d." % step
        events.phase("step%d.inputs" % step)
        batch = batch_of(whole)
        given = (batch["input_ids"],) if rank == 0 else ()
        schedule.step(*given, target=batch["labels"] if rank == pp - 1 else None,
                      attention_mask=batch["attention_mask"])
        events.phase("step%d.optimizer" % step)
        norm = clip(model) if plan["clip_grad"] else None
        events.step = True
        optim.step()
        events.step = False
        del norm
        events.phase("step%d.after" % step)
        optim.zero_grad()
        del batch, given
        gc.collect()
