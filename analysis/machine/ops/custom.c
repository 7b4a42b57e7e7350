/* SPDX-License-Identifier: Apache-2.0
 *
 * torch.autograd.Function of models: what their Python does, step by step, is one node.
 */
#include "ops.h"

/* x becomes what is computed of it */
static void next(struct vram_machine *m, struct vram_handle **x)
{
    vram_replace(m, x, vram_elt1(m, (enum vram_dtype)(*x)->dtype, *x));
}

static struct vram_handle *both(struct vram_machine *m, struct vram_handle *x,
                                struct vram_handle *y)
{
    struct vram_handle *o = vram_elt2(m, (enum vram_dtype)x->dtype, x, y);
    vram_drop(m, x);
    vram_drop(m, y);
    return o;
}

static struct vram_handle *of(struct vram_machine *m, struct vram_handle *x)
{
    return vram_elt1(m, (enum vram_dtype)x->dtype, x);
}

/* c + e * x * x */
static struct vram_handle *square(struct vram_machine *m, struct vram_handle *x)
{
    struct vram_handle *y = of(m, x);
    vram_replace(m, &y, vram_elt2(m, (enum vram_dtype)x->dtype, y, x));
    next(m, &y);
    return y;
}

/* tanh(d * x * (1 + e * x * x)) */
static struct vram_handle *curve(struct vram_machine *m, struct vram_handle *x)
{
    struct vram_handle *y = of(m, x), *z = square(m, x);
    y = both(m, y, z);
    next(m, &y);
    return y;
}

/* bloom_gelu_back */
static void bloom_gelu_backward(VRAM_FORMULA)
{
    VRAM_UNUSED(n);
    struct vram_handle *x = s[0], *t = curve(m, x), *half = of(m, x);
    struct vram_handle *y = vram_elt2(m, (enum vram_dtype)x->dtype, t, t);
    next(m, &y);
    struct vram_handle *z = square(m, x);
    y = both(m, y, z);
    y = both(m, half, y);
    z = of(m, t);
    next(m, &z);
    y = both(m, y, z);
    out[0] = vram_elt2(m, (enum vram_dtype)x->dtype, y, g[0]);
    vram_drop(m, t);
    vram_drop(m, y);
}

/* x * 0.5 * (1 + tanh(…)) */
static bool bloom_gelu(VRAM_OP)
{
    struct vram_handle *x = vram_arg(m, row, a, 0);
    struct vram_tape_node *n;
    if (vram_begin(m, &n, &(struct vram_begin){&x, 1, &x, 1, 0, bloom_gelu_backward}))
        return vram_result(NULL, out);
    struct vram_handle *half = of(m, x), *t = curve(m, x);
    next(m, &t);
    return vram_result(vram_end_one(m, n, both(m, half, t), false), out);
}

static const struct vram_op_row custom_rows[] = {
    {"bloom_gelu", "x", "", "x", "up to four at once, one stays; backward up to five, one stays",
     "transformers modeling_bloom.py GeLUFunction", bloom_gelu, ""},
};
const struct vram_op_family vram_ops_custom = {custom_rows,
                                               sizeof custom_rows / sizeof *custom_rows};
