/* SPDX-License-Identifier: Apache-2.0
 *
 * The tree that tensor names spell, for architectures without a template: parameters are exact,
 * what runs is unknown.
 */
#include <stdlib.h>
#include <string.h>

#include "models/tree.h"

/* ---- components by path ------------------------------------------------------------------- */

static bool has_part(const char *path, const char *const *words)
{
    for (const char *p = path; *p;) {
        size_t n = strcspn(p, ".");
        for (size_t i = 0; words[i]; i++) {
            size_t k = strlen(words[i]);
            if (k == n && !memcmp(p, words[i], k))
                return true;
        }
        p += n + (p[n] == '.');
    }
    return false;
}

const char *vram_component_of_path(const char *path, bool multimodal)
{
    static const char *const projector[] = {
        "multi_modal_projector", "mm_projector", "merger", "connector", "qformer", "query_tokens",
        "language_projection", "visual_projection", "text_projection", NULL};
    static const char *const audio[] = {"audio_tower", "audio_encoder", "audio_model", NULL};
    static const char *const vision[] = {"vision_tower", "visual", "vision_model", "vision_encoder",
                                         "vision_backbone", "vision", "image_tower", NULL};
    static const char *const head[] = {"lm_head", "embed_out", "cls", "score", "classifier",
                                       "qa_outputs", "predictions", "proj_out", NULL};
    if (!multimodal)
        return has_part(path, head) ? "lm_head" : "decoder";
    if (has_part(path, projector))
        return "projector";
    if (has_part(path, audio))
        return "audio";
    const char *text = strstr(path, "language_model.");
    if (text && strncmp(text, "language_model.lm_head", 22))
        return "decoder";
    if (has_part(path, vision))
        return "vision";
    if (has_part(path, head))
        return "lm_head";
    return !strcmp(path, "") || !strcmp(path, "model") ? "fusion" : "decoder";
}

/* ---- names in natural order --------------------------------------------------------------- */

static bool digit(char c) { return c >= '0' && c <= '9'; }

/* layers.2 before layers.10; parts before longer ones */
static int natural(const char *a, const char *b)
{
    while (*a && *b) {
        if (digit(*a) && digit(*b)) {
            size_t n = strspn(a, "0123456789"), k = strspn(b, "0123456789");
            int c = n != k ? (n < k ? -1 : 1) : strncmp(a, b, n);
            if (c)
                return c;
            a += n;
            b += k;
        } else if (*a != *b) {
            return *a == '.' ? -1 : *b == '.' ? 1 : (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        } else {
            a++;
            b++;
        }
    }
    return *a ? 1 : *b ? -1 : 0;
}

struct entry {
    const char *path;
    uint32_t tensor;
};

/* Own parameters of a module come before those of its children. */
static int by_path(const void *x, const void *y)
{
    const struct entry *a = x, *b = y;
    const char *p = a->path, *q = b->path;
    size_t same = 0;
    for (size_t i = 0; p[i] && p[i] == q[i]; i++)
        if (p[i] == '.')
            same = i + 1;
    bool own_a = !strchr(p + same, '.'), own_b = !strchr(q + same, '.');
    if (own_a != own_b)
        return own_a ? -1 : 1;
    int c = natural(p, q);
    return c ? c : a->tensor < b->tensor ? -1 : a->tensor > b->tensor;
}

/* ---- the tree ----------------------------------------------------------------------------- */

struct names {
    struct vram_cx *cx;
    struct vram_tree *tree;
    struct vram_checkpoint *checkpoint;
    uint32_t cap_scopes;
    bool multimodal;
};

static int scope_for(struct names *g, const char *path, size_t n, uint32_t parent, uint32_t *out)
{
    struct vram_tree *t = g->tree;
    uint32_t last = t->nscopes - 1;
    /* sorted, so the scope is the last one or one above it, or new */
    for (uint32_t s = last; s; s = t->scopes[s].parent) {
        const char *have = vram_sym_text(g->cx->syms, t->scopes[s].path);
        if (strlen(have) == n && !memcmp(have, path, n)) {
            *out = s;
            return VRAM_OK;
        }
    }
    if (t->nscopes >= g->cap_scopes || t->nscopes >= g->cx->limits->scopes)
        return vram_fail(g->cx, VRAM_E_LIMIT, VRAM_NO_OFFSET, "too many modules");
    vram_sym sym = vram_sym_add(g->cx->syms, path, n, 1);
    const char *name = path + n;
    while (name > path && name[-1] != '.')
        name--;
    vram_sym short_name = vram_sym_add(g->cx->syms, name, (size_t)(path + n - name), 1);
    if (sym == VRAM_SYM_NONE || short_name == VRAM_SYM_NONE)
        return vram_fail_memory(g->cx);
    vram_sym component =
        vram_sym_of(g->cx->syms, vram_component_of_path(vram_sym_text(g->cx->syms, sym), g->multimodal));
    if (component == VRAM_SYM_NONE)
        return vram_fail_memory(g->cx);
    t->scopes[t->nscopes] = (struct vram_scope){
        .name = short_name, .path = sym, .parent = parent, .cls = VRAM_NO_INDEX, .repeat = 1,
        .component = component, .first_param = t->nparams};
    *out = t->nscopes++;
    return VRAM_OK;
}

static int add_param(struct names *g, const struct entry *e)
{
    struct vram_tree *t = g->tree;
    struct vram_tensor *tensor = &g->checkpoint->tensors[e->tensor];
    uint32_t scope = 0, depth = 0;
    for (const char *dot = strchr(e->path, '.'); dot; dot = strchr(dot + 1, '.')) {
        if (++depth > 64)
            return vram_fail(g->cx, VRAM_E_LIMIT, tensor->offset, "a tensor name of too many parts");
        VRAM_TRY(scope_for(g, e->path, (size_t)(dot - e->path), scope, &scope));
    }
    const char *name = strrchr(e->path, '.') ? strrchr(e->path, '.') + 1 : e->path;
    bool floating = vram_dtype_is_float((enum vram_dtype)tensor->dtype);
    struct vram_param p = {.name = vram_sym_of(g->cx->syms, name), .path = tensor->path,
                           .scope = scope, .tensor = e->tensor, .tied_to = VRAM_NO_INDEX,
                           .dtype = tensor->dtype, .rank = tensor->rank, .dims = tensor->dims,
                           .buffer = tensor->buffer || (!floating && !g->checkpoint->onnx), .floating = floating,
                           .elements = 1, .bytes = tensor->bytes};
    for (uint32_t i = 0; i < tensor->rank; i++) /* the header's checks proved that it fits */
        p.elements *= (uint64_t)tensor->dims[i];
    if (p.name == VRAM_SYM_NONE)
        return vram_fail_memory(g->cx);
    tensor->bound = true;
    t->params[t->nparams++] = p;
    t->scopes[scope].nparams++;
    return VRAM_OK;
}

static void close_scopes(struct vram_tree *t)
{
    for (uint32_t i = 0; i < t->nscopes; i++)
        t->scopes[i].end = i + 1;
    for (uint32_t i = t->nscopes; i-- > 1;)
        if (t->scopes[t->scopes[i].parent].end < t->scopes[i].end)
            t->scopes[t->scopes[i].parent].end = t->scopes[i].end;
}

int vram_tree_from_names(struct vram_cx *cx, struct vram_checkpoint *c, struct vram_tree *out)
{
    struct vram_tree t = {.syms = cx->syms};
    struct names g = {.cx = cx, .tree = &t, .checkpoint = c};
    uint32_t nscopes = 1;
    struct entry *order = vram_arena_array(cx->arena, c->ntensors, sizeof *order);
    t.params = vram_arena_array(cx->arena, c->ntensors, sizeof *t.params);
    if (!order || !t.params)
        return vram_fail_memory(cx);
    g.multimodal = vram_config_get_text(cx, c->config, "vision_config") != NULL;
    for (uint32_t i = 0; i < c->ntensors; i++) {
        order[i] = (struct entry){vram_sym_text(cx->syms, c->tensors[i].path), i};
        g.multimodal = g.multimodal ||
                       !strcmp(vram_component_of_path(order[i].path, true), "vision");
        for (const char *p = order[i].path; *p; p++)
            nscopes += *p == '.';
    }
    if (c->ntensors)
        qsort(order, c->ntensors, sizeof *order, by_path);
    g.cap_scopes = nscopes < cx->limits->scopes ? nscopes : (uint32_t)cx->limits->scopes;
    t.scopes = vram_arena_array(cx->arena, g.cap_scopes, sizeof *t.scopes);
    vram_sym component = vram_sym_of(cx->syms, vram_component_of_path("", g.multimodal));
    if (!t.scopes || component == VRAM_SYM_NONE)
        return vram_fail_memory(cx);
    t.nscopes = 1;
    t.scopes[0] = (struct vram_scope){
        .cls = VRAM_NO_INDEX, .repeat = 1, .component = component};
    for (uint32_t i = 0; i < c->ntensors; i++)
        VRAM_TRY(add_param(&g, &order[i]));
    close_scopes(&t);
    *out = t;
    return VRAM_OK;
}
