/* SPDX-License-Identifier: Apache-2.0
 *
 * See skim.h.
 */
#include "onnx/skim.h"

#include <stdlib.h>
#include <string.h>

#include "base/math.h"
#include "ir/graph.h"
#include "onnx/copy.h"

enum { FIELDS = 32, PLANS = 40, TEXT = 64 * 1024 };

/* ---- what to do with which field: rows by name ---- */

static const struct rule {
    const ProtobufCMessageDescriptor *in; /* NULL: of every message */
    const char *field;
    enum onnx_part part;
} rules[] = {
    {NULL, "doc_string", ONNX_DROP},
    {NULL, "metadata_props", ONNX_DROP},
    {NULL, "denotation", ONNX_DROP},
    {&onnx__model_proto__descriptor, "domain", ONNX_DROP},
    {&onnx__model_proto__descriptor, "model_version", ONNX_DROP},
    {&onnx__model_proto__descriptor, "configuration", ONNX_DROP},
    {&onnx__model_proto__descriptor, "training_info", ONNX_TRAINING},
    {&onnx__model_proto__descriptor, "opset_import", ONNX_OPSET},
    {&onnx__model_proto__descriptor, "graph", ONNX_GRAPH},
    {&onnx__model_proto__descriptor, "functions", ONNX_FUNCTION},
    {&onnx__graph_proto__descriptor, "node", ONNX_NODE},
    {&onnx__graph_proto__descriptor, "initializer", ONNX_INIT},
    {&onnx__graph_proto__descriptor, "sparse_initializer", ONNX_SPARSE},
    {&onnx__graph_proto__descriptor, "input", ONNX_INPUT},
    {&onnx__graph_proto__descriptor, "output", ONNX_OUTPUT},
    {&onnx__graph_proto__descriptor, "value_info", ONNX_INFO},
    {&onnx__graph_proto__descriptor, "quantization_annotation", ONNX_DROP},
    {&onnx__function_proto__descriptor, "node", ONNX_NODE},
    {&onnx__function_proto__descriptor, "value_info", ONNX_INFO},
    {&onnx__function_proto__descriptor, "opset_import", ONNX_OPSET},
    {&onnx__function_proto__descriptor, "attribute_proto", ONNX_DEFAULT},
    {&onnx__node_proto__descriptor, "device_configurations", ONNX_DROP},
    {&onnx__attribute_proto__descriptor, "g", ONNX_GRAPH},
    {&onnx__attribute_proto__descriptor, "graphs", ONNX_GRAPH},
    {&onnx__tensor_proto__descriptor, "raw_data", ONNX_PAYLOAD},
    {&onnx__tensor_proto__descriptor, "float_data", ONNX_PAYLOAD},
    {&onnx__tensor_proto__descriptor, "int32_data", ONNX_PAYLOAD},
    {&onnx__tensor_proto__descriptor, "int64_data", ONNX_PAYLOAD},
    {&onnx__tensor_proto__descriptor, "double_data", ONNX_PAYLOAD},
    {&onnx__tensor_proto__descriptor, "uint64_data", ONNX_PAYLOAD},
    {&onnx__tensor_proto__descriptor, "string_data", ONNX_PAYLOAD},
};

struct plan {
    const ProtobufCMessageDescriptor *of;
    enum onnx_part head;       /* of a message of parts, else ONNX_NESTED */
    uint8_t part[FIELDS];      /* by number, as the next two */
    uint8_t index[FIELDS];     /* of the descriptor, + 1; 0 = unknown */
    struct plan *below[FIELDS];
};

struct walk {
    struct onnx_skim *skim;
    struct onnx_wire *wire;
    struct vram_cx *cx;
    struct onnx_copy copy;
    struct vram_arena scratch;
    size_t chunk; /* scratch's second */
    size_t n_plans;
    struct plan plans[PLANS];
};

/* one message that is being walked */
struct frame {
    const struct plan *plan;
    uint64_t end;
    uint32_t graph;    /* the parts' */
    uint32_t one;      /* the graph of a field that may stand once only */
    unsigned depth;
    uint32_t *numbers; /* of parts of the message, by kind */
    uint64_t count[FIELDS], bytes[FIELDS], kept[FIELDS]; /* of payloads, by number */
};

static struct plan *plan_of(struct walk *w, const ProtobufCMessageDescriptor *of)
{
    for (size_t i = 0; i < w->n_plans; i++)
        if (w->plans[i].of == of)
            return &w->plans[i];
    struct plan *plan = &w->plans[w->n_plans++];
    *plan = (struct plan){.of = of};
    plan->head = of == &onnx__model_proto__descriptor ? ONNX_MODEL_HEAD
               : of == &onnx__graph_proto__descriptor ? ONNX_GRAPH_HEAD
               : of == &onnx__function_proto__descriptor ? ONNX_FUNCTION_HEAD : ONNX_NESTED;
    for (unsigned i = 0; i < of->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &of->fields[i];
        plan->index[field->id] = (uint8_t)(i + 1);
        for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
            if ((!rules[r].in || rules[r].in == of) && !strcmp(rules[r].field, field->name))
                plan->part[field->id] = (uint8_t)rules[r].part;
        if (field->type == PROTOBUF_C_TYPE_MESSAGE && plan->part[field->id] != ONNX_DROP)
            plan->below[field->id] = plan_of(w, field->descriptor);
    }
    return plan;
}

/* ---- fields that are not kept ---- */

static int no_room(struct walk *w) { return vram_fail_memory(w->cx); }

static int length(struct walk *w, uint64_t end, uint64_t *n)
{
    uint64_t at = onnx_wire_offset(w->wire);
    VRAM_TRY(onnx_wire_varint(w->wire, n));
    if (onnx_wire_offset(w->wire) <= end && *n <= end - onnx_wire_offset(w->wire))
        return VRAM_OK;
    if (end == w->wire->size)
        return vram_fail(w->cx, VRAM_E_FORMAT, at,
                         "%llu bytes are promised, the file ends at byte %llu: it is truncated, download or export it again",
                         (unsigned long long)*n, (unsigned long long)end);
    return vram_fail(w->cx, VRAM_E_FORMAT, at,
                     "a length of %llu bytes runs past the end of the message around it, byte %llu",
                     (unsigned long long)*n, (unsigned long long)end);
}

static int skip_value(struct walk *w, unsigned wire, uint64_t end)
{
    uint64_t n;
    switch (wire) {
    case 0: return onnx_wire_varint(w->wire, &n);
    case 1: return onnx_wire_skip(w->wire, 8);
    case 2: VRAM_TRY(length(w, end, &n)); return onnx_wire_skip(w->wire, n);
    default: return onnx_wire_skip(w->wire, 4);
    }
}

static int key_of(struct walk *w, uint64_t *number, unsigned *wire)
{
    uint64_t at = onnx_wire_offset(w->wire), key;
    VRAM_TRY(onnx_wire_varint(w->wire, &key));
    *number = key >> 3;
    *wire = key & 7;
    if (*number == 0 || *number >= UINT64_C(1) << 29)
        return vram_fail(w->cx, VRAM_E_FORMAT, at,
                         "field number %llu does not exist: the file is damaged or no ONNX file",
                         (unsigned long long)*number);
    if (*wire > 5)
        return vram_fail(w->cx, VRAM_E_FORMAT, at,
                         "wire type %u does not exist: the file is damaged or no ONNX file", *wire);
    return VRAM_OK;
}

/* What follows the start of a group up to its end: an old form that may be skipped. */
static int skip_group(struct walk *w, uint64_t number, uint64_t end)
{
    uint64_t open[100], at;
    size_t n = 0, most = sizeof open / sizeof *open;
    open[n++] = number;
    while (n) {
        unsigned wire;
        at = onnx_wire_offset(w->wire);
        if (at >= end)
            return vram_fail(w->cx, VRAM_E_FORMAT, at, "a group has no end");
        VRAM_TRY(key_of(w, &number, &wire));
        if (wire == 3 && n == most)
            return vram_fail(w->cx, VRAM_E_LIMIT, at, "groups are nested more than %zu levels deep", most);
        if (wire == 3)
            open[n++] = number;
        else if (wire == 4 && open[--n] != number)
            return vram_fail(w->cx, VRAM_E_FORMAT, at, "a group ends that did not begin");
        else if (wire != 4)
            VRAM_TRY(skip_value(w, wire, end));
    }
    return VRAM_OK;
}

static int skip_field(struct walk *w, uint64_t number, unsigned wire, uint64_t offset, uint64_t end)
{
    if (wire == 4)
        return vram_fail(w->cx, VRAM_E_FORMAT, offset, "a group ends that did not begin");
    return wire == 3 ? skip_group(w, number, end) : skip_value(w, wire, end);
}

/* ---- scalars ---- */

static bool utf8(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n;) {
        if (p[i] < 0x80) {
            i++;
            continue;
        }
        size_t k = p[i] >= 0xc2 && p[i] < 0xe0 ? 2 : p[i] >= 0xe0 && p[i] < 0xf0 ? 3
                 : p[i] >= 0xf0 && p[i] < 0xf5 ? 4 : 0;
        if (!k || k > n - i)
            return false;
        for (size_t j = 1; j < k; j++)
            if ((p[i + j] & 0xc0) != 0x80)
                return false;
        i += k;
    }
    return true;
}

static int text(struct walk *w, const ProtobufCFieldDescriptor *d, uint64_t n)
{
    struct onnx_copy *copy = &w->copy;
    uint64_t offset = onnx_wire_offset(w->wire);
    if (n > w->cx->limits->onnx_name_bytes)
        return vram_fail(w->cx, VRAM_E_LIMIT, offset, "%s of %llu bytes: more than the limit of %llu",
                         d->name, (unsigned long long)n, (unsigned long long)w->cx->limits->onnx_name_bytes);
    if (!onnx_copy_room(copy, 2 * (size_t)n + 32))
        return no_room(w);
    size_t start = copy->n;
    onnx_copy_key(copy, d->id, 2);
    onnx_copy_varint(copy, n);
    unsigned char *at = copy->at + copy->n;
    VRAM_TRY(onnx_wire_read(w->wire, at, (size_t)n));
    copy->n += (size_t)n;
    if (d->type != PROTOBUF_C_TYPE_STRING)
        return VRAM_OK;
    size_t zeros = 0;
    for (size_t i = 0; i < n; i++)
        zeros += at[i] == 0;
    bool odd = !utf8(at, (size_t)n);
    if ((odd || zeros) && !w->skim->not_utf8 && !w->skim->with_nul)
        w->skim->odd_name = offset;
    w->skim->not_utf8 += odd;
    w->skim->with_nul += zeros > 0;
    if (zeros)
        onnx_copy_escape(copy, start, d->id, (size_t)n, zeros);
    return VRAM_OK;
}

/* Large bytes of an attribute (a compiled blob, say) are passed over. */
static int bytes(struct walk *w, struct frame *f, const ProtobufCFieldDescriptor *d, uint64_t n)
{
    f->bytes[d->id] = 0; /* of a field that stands twice the last counts */
    if (n <= TEXT)
        return text(w, d, n);
    if (!onnx_copy_room(&w->copy, 16))
        return no_room(w);
    onnx_copy_key(&w->copy, d->id, 2);
    onnx_copy_varint(&w->copy, 0);
    f->bytes[d->id] = n;
    return onnx_wire_skip(w->wire, n);
}

/* one value that is no text and no message */
static int scalar(struct walk *w, const ProtobufCFieldDescriptor *d, unsigned wire)
{
    uint64_t v;
    unsigned char raw[8];
    size_t n = wire == 1 ? 8 : 4;
    if (!onnx_copy_room(&w->copy, 32))
        return no_room(w);
    if (wire == 0) {
        VRAM_TRY(onnx_wire_varint(w->wire, &v));
        onnx_copy_key(&w->copy, d->id, 0);
        onnx_copy_varint(&w->copy, v);
        return VRAM_OK;
    }
    VRAM_TRY(onnx_wire_read(w->wire, raw, n));
    onnx_copy_key(&w->copy, d->id, wire);
    memcpy(w->copy.at + w->copy.n, raw, n);
    w->copy.n += n;
    return VRAM_OK;
}

static int packed(struct walk *w, const ProtobufCFieldDescriptor *d, unsigned wire, uint64_t n)
{
    uint64_t end = onnx_wire_offset(w->wire) + n;
    if (wire != 0 && n % (wire == 1 ? 8 : 4))
        return vram_fail(w->cx, VRAM_E_FORMAT, onnx_wire_offset(w->wire),
                         "%llu bytes of %s are no whole number of elements", (unsigned long long)n, d->name);
    while (onnx_wire_offset(w->wire) < end)
        VRAM_TRY(scalar(w, d, wire));
    if (onnx_wire_offset(w->wire) > end)
        return vram_fail(w->cx, VRAM_E_FORMAT, end, "a number of %s runs past the end of the list", d->name);
    return VRAM_OK;
}

/* ---- payloads of tensors ---- */

static int payload(struct walk *w, struct frame *f, const ProtobufCFieldDescriptor *d, unsigned wire,
                   unsigned want)
{
    uint64_t n = wire == 1 ? 8 : 4, *kept = &f->kept[d->id];
    bool whole = d->type == PROTOBUF_C_TYPE_BYTES, repeated = d->label == PROTOBUF_C_LABEL_REPEATED;
    if (wire == 2)
        VRAM_TRY(length(w, f->end, &n));
    if (whole && repeated) { /* strings: never kept */
        f->count[d->id]++;
        f->bytes[d->id] += n;
        return onnx_wire_skip(w->wire, n);
    }
    if (whole)
        *kept = f->bytes[d->id] = 0;
    /* a number may take ten bytes for one of its own */
    uint64_t most = want == 0 ? UINT64_C(10) * VRAM_ONNX_KEPT : VRAM_ONNX_KEPT;
    if (n <= most && *kept <= most - n) {
        *kept += n;
        return whole ? text(w, d, n) : wire == 2 ? packed(w, d, want, n) : scalar(w, d, wire);
    }
    *kept = most;
    if (whole || (wire == 2 && want == 0)) {
        f->bytes[d->id] += n;
        return onnx_wire_skip(w->wire, n);
    }
    f->count[d->id] += wire == 2 ? n / (want == 1 ? 8 : 4) : 1;
    return wire == 2 ? onnx_wire_skip(w->wire, n) : skip_value(w, wire, f->end);
}

/* ---- messages ---- */

static int message(struct walk *w, struct frame *f);

static const char *const nouns[] = {
    [ONNX_NODE] = "node", [ONNX_INPUT] = "input", [ONNX_OUTPUT] = "output", [ONNX_INFO] = "value_info",
    [ONNX_INIT] = "initializer", [ONNX_SPARSE] = "sparse_initializer", [ONNX_OPSET] = "opset_import",
    [ONNX_DEFAULT] = "attribute_proto", [ONNX_MODEL_HEAD] = "model", [ONNX_GRAPH_HEAD] = "graph",
    [ONNX_FUNCTION_HEAD] = "function"};

static void *take(void *data, size_t n) { return vram_arena_alloc(data, n); }
static void give(void *data, void *block) { (void)data, (void)block; }

/* Unpacks what the copy has from `from` on, and hands it over. */
static int hand_over(struct walk *w, enum onnx_part part, uint32_t graph, size_t from,
                     const ProtobufCMessageDescriptor *of, uint64_t offset)
{
    ProtobufCAllocator allocator = {take, give, &w->scratch};
    size_t n = w->copy.n - from;
    struct vram_arena_mark mark = vram_arena_mark(&w->scratch);
    w->scratch.cap = w->cx->limits->onnx_part_bytes + 8 * (uint64_t)n;
    ProtobufCMessage *m = protobuf_c_message_unpack(of, &allocator, n, w->copy.at + from);
    int rc;
    if (m)
        rc = w->skim->part(w->skim->ctx, part, graph, m);
    else if (w->scratch.capped)
        rc = vram_fail(w->cx, VRAM_E_LIMIT, offset, "its parts take more memory than the limit allows");
    else
        rc = vram_fail(w->cx, VRAM_E_NOMEM, VRAM_NO_OFFSET, "out of memory");
    vram_arena_rewind(&w->scratch, mark);
    w->scratch.next_chunk = w->chunk; /* a large part is no reason for large chunks from now on */
    w->copy.n = from;
    return rc;
}

/* A message of a kind that is handed over by itself. */
static int whole_part(struct walk *w, struct frame *f, enum onnx_part part, struct frame *sub,
                      uint64_t offset)
{
    size_t from = w->copy.n;
    uint32_t number = f->numbers[part]++;
    int rc = message(w, sub);
    if (!rc && !onnx_copy_mark(&w->copy, ONNX_MARK_OFFSET, offset))
        rc = no_room(w);
    if (!rc)
        rc = hand_over(w, part, f->graph, from, sub->plan->of, offset);
    if (rc)
        vram_where(w->cx, "%s: %s %u", w->skim->file, nouns[part], number);
    return rc;
}

/* A graph or function; of a graph that an attribute has, its number goes into the copy. */
static int container(struct walk *w, struct frame *f, const ProtobufCFieldDescriptor *d, struct frame *sub,
                     uint64_t offset)
{
    bool again = d->label != PROTOBUF_C_LABEL_REPEATED && f->one;
    sub->graph = again ? f->one : w->skim->graph(w->skim->ctx, offset, sub->plan->head == ONNX_FUNCTION_HEAD);
    if (!sub->graph)
        return vram_fail_memory(w->cx);
    if (d->label != PROTOBUF_C_LABEL_REPEATED)
        f->one = sub->graph;
    w->skim->graphs_merged += again;
    if (f->plan->head == ONNX_MODEL_HEAD && sub->plan->head == ONNX_GRAPH_HEAD)
        w->skim->main = sub->graph;
    if (!again && f->plan->head == ONNX_NESTED && !onnx_copy_mark(&w->copy, ONNX_MARK_GRAPH, sub->graph))
        return no_room(w);
    return message(w, sub);
}

static int submessage(struct walk *w, struct frame *f, const ProtobufCFieldDescriptor *d, uint64_t offset)
{
    enum onnx_part part = f->plan->part[d->id];
    struct frame sub = {.plan = f->plan->below[d->id], .graph = f->graph, .depth = f->depth + 1};
    uint64_t n;
    VRAM_TRY(length(w, f->end, &n));
    if (part == ONNX_TRAINING) {
        w->skim->trainings++;
        return onnx_wire_skip(w->wire, n);
    }
    if (sub.depth > w->cx->limits->onnx_depth)
        return vram_fail(w->cx, VRAM_E_LIMIT, offset,
                         "messages are nested more than %llu levels deep (a subgraph takes three): no tool opens such a file",
                         (unsigned long long)w->cx->limits->onnx_depth);
    sub.end = onnx_wire_offset(w->wire) + n;
    if (part == ONNX_GRAPH || part == ONNX_FUNCTION)
        return container(w, f, d, &sub, offset);
    if (f->plan->head != ONNX_NESTED)
        return whole_part(w, f, part, &sub, offset);
    size_t length_at;
    if (!onnx_copy_begin(&w->copy, d->id, &length_at))
        return no_room(w);
    VRAM_TRY(message(w, &sub));
    onnx_copy_end(&w->copy, length_at);
    return VRAM_OK;
}

static unsigned wire_of(const ProtobufCFieldDescriptor *d)
{
    switch (d->type) {
    case PROTOBUF_C_TYPE_FLOAT: return 5;
    case PROTOBUF_C_TYPE_DOUBLE: return 1;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE: return 2;
    default: return 0;
    }
}

static int field(struct walk *w, struct frame *f)
{
    uint64_t offset = onnx_wire_offset(w->wire), number, n;
    unsigned wire;
    VRAM_TRY(key_of(w, &number, &wire));
    unsigned index = number < FIELDS ? f->plan->index[number] : 0;
    if (!index || f->plan->part[number] == ONNX_DROP)
        return skip_field(w, number, wire, offset, f->end);
    const ProtobufCFieldDescriptor *d = &f->plan->of->fields[index - 1];
    unsigned want = wire_of(d);
    bool list = wire == 2 && d->label == PROTOBUF_C_LABEL_REPEATED;
    if (wire != want && !list)
        return vram_fail(w->cx, VRAM_E_FORMAT, offset,
                         "%s of %s has wire type %u instead of %u: the file is damaged or no ONNX file", d->name,
                         f->plan->of->short_name, wire, want);
    if (f->plan->part[number] == ONNX_PAYLOAD)
        return payload(w, f, d, wire, want);
    if (d->type == PROTOBUF_C_TYPE_MESSAGE)
        return submessage(w, f, d, offset);
    if (wire != 2)
        return scalar(w, d, wire);
    VRAM_TRY(length(w, f->end, &n));
    if (want != 2)
        return packed(w, d, want, n);
    return d->type == PROTOBUF_C_TYPE_STRING ? text(w, d, n) : bytes(w, f, d, n);
}

/* What the message's struct has no place for. */
static int marks(struct walk *w, const struct frame *f)
{
    for (unsigned i = 0; i < FIELDS; i++)
        if ((f->count[i] && !onnx_copy_mark(&w->copy, ONNX_MARK_COUNT + i, f->count[i])) ||
            (f->bytes[i] && !onnx_copy_mark(&w->copy, ONNX_MARK_BYTES + i, f->bytes[i])))
            return no_room(w);
    return VRAM_OK;
}

static int message(struct walk *w, struct frame *f)
{
    uint32_t numbers[ONNX_FUNCTION_HEAD + 1] = {0};
    uint64_t offset = onnx_wire_offset(w->wire);
    size_t from = w->copy.n;
    bool head = f->plan->head != ONNX_NESTED, ended = false;
    f->numbers = numbers;
    while (onnx_wire_offset(w->wire) < f->end) {
        if (f->end == UINT64_MAX) {
            VRAM_TRY(onnx_wire_ended(w->wire, &ended));
            if (ended)
                break;
        }
        VRAM_TRY(field(w, f));
    }
    if (onnx_wire_offset(w->wire) > f->end)
        return vram_fail(w->cx, VRAM_E_FORMAT, f->end, "a field runs past the end of its message, %s",
                         f->plan->of->short_name);
    if (!head) {
        if (f->plan->of != &onnx__tensor_proto__descriptor && f->plan->of != &onnx__attribute_proto__descriptor)
            return VRAM_OK;
        if (!onnx_copy_mark(&w->copy, ONNX_MARK_OFFSET, offset))
            return no_room(w);
        return marks(w, f);
    }
    int rc = hand_over(w, f->plan->head, f->graph, from, f->plan->of, offset);
    if (rc)
        vram_where(w->cx, "%s: %s", w->skim->file, nouns[f->plan->head]);
    return rc;
}

int onnx_skim(struct onnx_skim *skim)
{
    struct vram_cx *cx = skim->wire->cx;
    struct walk *w = vram_realloc(NULL, 1, sizeof *w);
    if (!w)
        return vram_fail_memory(cx);
    *w = (struct walk){.skim = skim, .wire = skim->wire, .cx = cx};
    vram_arena_init(&w->scratch, UINT64_MAX);
    int rc = onnx_scratch(&w->scratch) ? VRAM_OK : no_room(w);
    w->chunk = w->scratch.next_chunk;
    struct frame f = {.plan = plan_of(w, &onnx__model_proto__descriptor), .end = skim->wire->size, .depth = 1};
    if (!rc)
        rc = message(w, &f);
    if (rc)
        vram_where(cx, "%s", skim->file);
    vram_arena_finish(&w->scratch);
    onnx_copy_free(&w->copy);
    free(w);
    return rc;
}
