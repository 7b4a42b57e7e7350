/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads what travels with a message as unknown fields; see skim.h.
 */
#include "onnx/copy.h"
#include "onnx/skim.h"

static uint64_t mark(const ProtobufCMessage *m, uint32_t tag, uint32_t nth)
{
    for (unsigned i = 0; i < m->n_unknown_fields; i++) {
        const ProtobufCMessageUnknownField *u = &m->unknown_fields[i];
        if (u->tag == tag && nth-- == 0) {
            uint64_t v = 0;
            for (int b = 7; b >= 0; b--)
                v = v << 8 | u->data[b];
            return v;
        }
    }
    return 0;
}

static uint32_t id_of(const ProtobufCMessage *m, const char *field)
{
    return protobuf_c_message_descriptor_get_field_by_name(m->descriptor, field)->id;
}

uint64_t onnx_mark_offset(const ProtobufCMessage *m) { return mark(m, ONNX_MARK_OFFSET, 0); }

uint32_t onnx_mark_graphs(const ProtobufCMessage *m)
{
    uint32_t n = 0;
    for (unsigned i = 0; i < m->n_unknown_fields; i++)
        n += m->unknown_fields[i].tag == ONNX_MARK_GRAPH;
    return n;
}

uint32_t onnx_mark_graph(const ProtobufCMessage *m, uint32_t i)
{
    return (uint32_t)mark(m, ONNX_MARK_GRAPH, i);
}

uint64_t onnx_mark_count(const ProtobufCMessage *m, const char *field)
{
    return mark(m, ONNX_MARK_COUNT + id_of(m, field), 0);
}

uint64_t onnx_mark_bytes(const ProtobufCMessage *m, const char *field)
{
    return mark(m, ONNX_MARK_BYTES + id_of(m, field), 0);
}
