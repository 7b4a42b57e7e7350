/* SPDX-License-Identifier: Apache-2.0
 *
 * Tied weights, and which siblings are alike.
 */
#include <string.h>

#include "models/builder.h"

/* The parameter at a path below a scope; VRAM_NO_INDEX when it is not there. */
static uint32_t find_param(const struct vram_builder *b, uint32_t scope, uint32_t first, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        const struct vram_scope *s = &b->tree.scopes[scope];
        const struct vram_class *c = &b->program->classes.at[s->cls];
        uint32_t i = vram_class_member(b->program, c, b->program->lists.at[first + k]);
        if (i == VRAM_NO_INDEX)
            return VRAM_NO_INDEX;
        struct vram_value v = b->tree.members[s->members + i];
        if (k + 1 == n)
            return v.kind == VRAM_V_PARAM ? (uint32_t)v.u.i : VRAM_NO_INDEX;
        if (v.kind != VRAM_V_MODULE)
            return VRAM_NO_INDEX;
        scope = (uint32_t)v.u.i;
    }
    return VRAM_NO_INDEX;
}

/* Every member that is the left parameter becomes the right one. */
static int tie(struct vram_builder *b, uint32_t left, uint32_t right)
{
    struct vram_param *l = &b->tree.params[left];
    const struct vram_param *r = &b->tree.params[right];
    const char *path = vram_sym_text(b->cx->syms, l->path);
    if (l->rank != r->rank || memcmp(l->dims, r->dims, l->rank * sizeof *l->dims))
        return vram_find(b->cx, VRAM_F_UNTIED, path,
                         "the config ties it to '%s', whose shape differs; both are counted",
                         vram_sym_text(b->cx->syms, r->path));
    if (l->tensor != VRAM_NO_INDEX) {
        const struct vram_tensor *t = &b->checkpoint->tensors[l->tensor];
        VRAM_TRY(vram_find(b->cx, VRAM_F_TIED_STORED,
                           vram_format(b->cx->arena, "%s: tensor '%s'",
                                       b->checkpoint->files[t->file].name,
                                       vram_sym_text(b->cx->syms, t->name)),
                           "the config ties it to '%s'; it is stored as well and counts once",
                           vram_sym_text(b->cx->syms, r->path)));
    }
    l->tied_to = r->tied_to != VRAM_NO_INDEX ? r->tied_to : right;
    struct vram_value v = {.kind = VRAM_V_PARAM};
    v.u.i = l->tied_to;
    const struct vram_scope *s = &b->tree.scopes[l->scope];
    uint32_t n = b->program->classes.at[s->cls].nmembers;
    for (uint32_t i = 0; i < n; i++) {
        struct vram_value *m = &b->tree.members[s->members + i];
        if (m->kind == VRAM_V_PARAM && m->u.i == left)
            *m = v;
    }
    return VRAM_OK;
}

static int holds(struct vram_builder *b, uint32_t scope, uint32_t condition, bool *yes)
{
    struct vram_frame f = {.scope = scope,
                           .cls = &b->program->classes.at[b->tree.scopes[scope].cls]};
    struct vram_value v;
    int code = setjmp(b->machine.escape);
    if (code)
        return code;
    *yes = true;
    vram_step(&b->machine);
    if (condition) {
        vram_eval(&b->machine, &f, condition - 1, &v);
        *yes = vram_truth(&b->machine, v);
    }
    return VRAM_OK;
}

static int ties_of(struct vram_builder *b, uint32_t scope, const struct vram_class *c)
{
    for (uint32_t i = 0; i < c->nties; i++) {
        const struct vram_tie *t = &b->program->ties.at[c->ties + i];
        bool yes;
        VRAM_TRY(holds(b, scope, t->condition, &yes));
        if (!yes)
            continue;
        uint32_t left = find_param(b, scope, t->left, t->nleft);
        uint32_t right = find_param(b, scope, t->right, t->nright);
        if (left != VRAM_NO_INDEX && right != VRAM_NO_INDEX && left != right)
            VRAM_TRY(tie(b, left, right));
    }
    return VRAM_OK;
}

int vram_ties_apply(struct vram_builder *b)
{
    for (uint32_t s = 0; s < b->tree.nscopes; s++) {
        uint32_t cls = b->tree.scopes[s].cls;
        /* the class and everything it extends */
        for (uint32_t depth = 0; cls != VRAM_NO_INDEX && depth < b->program->classes.n; depth++) {
            const struct vram_class *c = &b->program->classes.at[cls];
            VRAM_TRY(ties_of(b, s, c));
            cls = c->base;
        }
    }
    return VRAM_OK;
}

/* ---- repeats ------------------------------------------------------------------------------ */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h ^= v + UINT64_C(0x9e3779b97f4a7c15) + (h << 6) + (h >> 2);
    return h * UINT64_C(0xff51afd7ed558ccd);
}

/* A signature of a module: class, parameters and what is below, without its own name. */
static void signatures(const struct vram_tree *t, uint64_t *h)
{
    for (uint32_t i = t->nscopes; i-- > 0;) {
        const struct vram_scope *s = &t->scopes[i];
        h[i] = mix(h[i], s->cls);
        for (uint32_t k = 0; k < s->nparams; k++) {
            const struct vram_param *p = &t->params[s->first_param + k];
            h[i] = mix(mix(h[i], p->name), p->dtype);
            for (uint32_t d = 0; d < p->rank; d++)
                h[i] = mix(h[i], (uint64_t)p->dims[d]);
        }
        if (i)
            h[s->parent] = mix(h[s->parent], mix(h[i], s->end - i));
    }
}

int vram_tree_repeats(struct vram_cx *cx, struct vram_tree *t)
{
    uint64_t *h = vram_arena_array(cx->arena, t->nscopes, sizeof *h);
    if (!h)
        return vram_fail_memory(cx);
    signatures(t, h);
    for (uint32_t i = 0; i < t->nscopes; i++)
        t->scopes[i].repeat = 1;
    for (uint32_t i = 0; i < t->nscopes; i++) {
        if (t->scopes[i].repeat == 0)
            continue;
        /* siblings follow each other: the next one begins where this one ends */
        for (uint32_t k = t->scopes[i].end; k < t->nscopes && t->scopes[k].parent == t->scopes[i].parent &&
                                            h[k] == h[i] && i; k = t->scopes[k].end) {
            t->scopes[i].repeat++;
            t->scopes[k].repeat = 0;
        }
    }
    return VRAM_OK;
}
