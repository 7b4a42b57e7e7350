/* SPDX-License-Identifier: Apache-2.0
 *
 * Shapes and strides: what is contiguous, what can be viewed, which layout a result gets.  Layouts
 * decide copies, so they are followed exactly (ATen: TensorIterator, computeStride,
 * infer_dense_strides).
 */
#include <string.h>

#include "machine/machine.h"

void vram_contiguous_strides(const int64_t *shape, int rank, int64_t *stride)
{
    int64_t step = 1;
    for (int i = rank - 1; i >= 0; i--) {
        stride[i] = step;
        step *= shape[i] > 1 ? shape[i] : 1;
    }
}

bool vram_is_contiguous(const struct vram_handle *x)
{
    int64_t step = 1;
    for (int i = x->rank - 1; i >= 0; i--) {
        if (x->shape[i] == 1)
            continue;
        if (x->stride[i] != step)
            return false;
        step *= x->shape[i];
    }
    return true;
}

bool vram_is_dense(const int64_t *shape, const int64_t *stride, int rank)
{
    int order[VRAM_MAX_RANK], n = 0;
    for (int i = 0; i < rank; i++) {
        if (shape[i] == 1)
            continue;
        int at = n++;
        while (at > 0 && (stride[order[at - 1]] > stride[i] ||
                          (stride[order[at - 1]] == stride[i] && shape[order[at - 1]] > shape[i]))) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
    int64_t step = 1;
    for (int i = 0; i < n; i++) {
        if (stride[order[i]] != step)
            return false;
        step *= shape[order[i]];
    }
    return true;
}

bool vram_view_strides(const struct vram_handle *x, const int64_t *shape, int rank, int64_t *stride)
{
    if (vram_is_contiguous(x) || x->rank == 0) {
        vram_contiguous_strides(shape, rank, stride);
        return true;
    }
    int view = rank - 1;
    int64_t chunk = x->stride[x->rank - 1], old = 1, new = 1;
    for (int i = 0; i < rank; i++)
        stride[i] = 0;
    for (int d = x->rank - 1; d >= 0; d--) {
        old *= x->shape[d];
        if (d != 0 && (x->shape[d - 1] == 1 || x->stride[d - 1] == old * chunk))
            continue; /* the next dimension continues this run of memory */
        while (view >= 0 && (new < old || shape[view] == 1)) {
            stride[view] = new * chunk;
            new *= shape[view--];
        }
        if (new != old)
            return false;
        if (d > 0) {
            chunk = x->stride[d - 1];
            old = new = 1;
        }
    }
    return view == -1;
}

int vram_broadcast(struct vram_machine *m, struct vram_handle *const *xs, int n, int64_t *shape)
{
    int rank = 0;
    for (int i = 0; i < n; i++)
        rank = xs[i]->rank > rank ? xs[i]->rank : rank;
    for (int d = 0; d < rank; d++)
        shape[d] = 1;
    for (int i = 0; i < n; i++)
        for (int d = 0; d < xs[i]->rank; d++) {
            int64_t v = xs[i]->shape[d], *at = &shape[rank - xs[i]->rank + d];
            if (v == 1 || v == *at)
                continue;
            if (*at != 1)
                vram_throw(m, VRAM_E_CONFLICT, "sizes %lld and %lld cannot be broadcast",
                           (long long)*at, (long long)v);
            *at = v;
        }
    return rank;
}

/* Should dimension a be inner to dimension b?  < 0 yes, > 0 no, 0 no opinion. */
static int compare(const int64_t *shape, int64_t (*stride)[VRAM_MAX_RANK], int n, int a, int b)
{
    for (int i = 0; i < n; i++) {
        int64_t x = stride[i][a], y = stride[i][b];
        if (x == 0 || y == 0)
            continue;
        if (x != y)
            return x < y ? -1 : 1;
        if (shape[a] > shape[b])
            return 1;
    }
    return 0;
}

static bool all_contiguous(const int64_t *shape, int rank, struct vram_handle *const *xs, int n)
{
    for (int i = 0; i < n; i++)
        if (xs[i]->rank != rank || memcmp(xs[i]->shape, shape, (size_t)rank * sizeof *shape) ||
            !vram_is_contiguous(xs[i]))
            return false;
    return true;
}

void vram_elementwise_strides(const int64_t *shape, int rank, struct vram_handle *const *xs, int n,
                              int64_t *stride)
{
    if (rank == 0)
        return;
    if (all_contiguous(shape, rank, xs, n)) {
        vram_contiguous_strides(shape, rank, stride);
        return;
    }
    int64_t own[4][VRAM_MAX_RANK];
    for (int i = 0; i < n; i++) {
        int pad = rank - xs[i]->rank;
        for (int d = 0; d < rank; d++)
            own[i][d] = d < pad || (xs[i]->shape[d - pad] == 1 && shape[d] != 1)
                            ? 0
                            : xs[i]->stride[d - pad];
    }
    int perm[VRAM_MAX_RANK]; /* innermost first */
    for (int d = 0; d < rank; d++)
        perm[d] = rank - 1 - d;
    for (int i = 1; i < rank; i++) {
        int at = i;
        for (int j = i - 1; j >= 0; j--) {
            int c = compare(shape, own, n, perm[j], perm[at]);
            if (c < 0)
                break;
            if (c > 0) {
                int swap = perm[j];
                perm[j] = perm[at];
                perm[at] = swap;
                at = j;
            }
        }
    }
    int64_t step = 1;
    for (int d = 0; d < rank; d++) {
        stride[perm[d]] = step;
        step *= shape[perm[d]];
    }
}

void vram_like_strides(const struct vram_handle *x, int64_t *stride)
{
    if (vram_is_dense(x->shape, x->stride, x->rank)) {
        memcpy(stride, x->stride, x->rank * sizeof *stride);
        return;
    }
    struct vram_handle *one = (struct vram_handle *)(uintptr_t)x; /* only read */
    vram_elementwise_strides(x->shape, x->rank, &one, 1, stride);
}
