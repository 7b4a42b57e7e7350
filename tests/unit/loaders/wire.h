/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes protobuf's wire format by hand, field numbers of onnx.proto in the test's own words, so that
 * files can be made that no library would write.
 */
#ifndef LOADERS_TEST_WIRE_H
#define LOADERS_TEST_WIRE_H

#include <stdint.h>
#include <string.h>

struct wire {
    unsigned char at[1 << 16];
    size_t n;
    size_t open[128]; /* where contents of unfinished messages begin */
    int depth;
};

static inline void w_varint(struct wire *w, uint64_t v)
{
    for (; v > 127; v >>= 7)
        w->at[w->n++] = (unsigned char)(v | 128);
    w->at[w->n++] = (unsigned char)v;
}

static inline void w_int(struct wire *w, unsigned field, uint64_t v)
{
    w_varint(w, field << 3);
    w_varint(w, v);
}

static inline void w_bytes(struct wire *w, unsigned field, const void *bytes, size_t n)
{
    w_varint(w, field << 3 | 2);
    w_varint(w, n);
    memcpy(w->at + w->n, bytes, n);
    w->n += n;
}

static inline void w_text(struct wire *w, unsigned field, const char *text) { w_bytes(w, field, text, strlen(text)); }

static inline void w_begin(struct wire *w, unsigned field)
{
    w_varint(w, field << 3 | 2);
    w->open[w->depth++] = w->n;
}

static inline void w_end(struct wire *w)
{
    size_t from = w->open[--w->depth], n = w->n - from;
    unsigned char length[10];
    size_t k = 0;
    for (uint64_t v = n;; v >>= 7) {
        length[k++] = (unsigned char)(v > 127 ? v | 128 : v);
        if (v <= 127)
            break;
    }
    memmove(w->at + from + k, w->at + from, n);
    memcpy(w->at + from, length, k);
    w->n += k;
}

/* model { ir 8, graph {          fields of the graph follow */
static inline void w_model(struct wire *w)
{
    w->n = 0;
    w->depth = 0;
    w_int(w, 1, 8);
    w_begin(w, 7);
}

/* }, opset 18 } */
static inline void w_finish(struct wire *w)
{
    w_end(w);
    w_begin(w, 8);
    w_int(w, 2, 18);
    w_end(w);
}

static inline void w_node(struct wire *w, const char *op, const char *in, const char *out)
{
    w_begin(w, 1);
    w_text(w, 1, in);
    w_text(w, 2, out);
    w_text(w, 4, op);
    w_end(w);
}

static inline void w_value(struct wire *w, unsigned field, const char *name)
{
    w_begin(w, field);
    w_text(w, 1, name);
    w_end(w);
}

#endif
