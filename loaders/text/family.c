/* SPDX-License-Identifier: Apache-2.0
 *
 * `family` and the lines below it.
 */
#include "base/vec.h"
#include "text/statement.h"

int vram_parse_twice(struct vram_parser *p, vram_sym name, uint32_t line, uint16_t file,
                     uint32_t first)
{
    const char *text = vram_sym_text(p->cx->syms, name);
    if (file == p->file)
        return vram_lexer_fail_at(&p->lex, line, 1, "'%s' is defined twice; first in line %u", text,
                                  (unsigned)first);
    return vram_lexer_fail_at(&p->lex, line, 1, "'%s' is defined twice; first in line %u of %s",
                              text, (unsigned)first, p->program->files.at[file]);
}

/* default KEY = EXPR: what the configuration class gives when config.json does not */
static int default_line(struct vram_parser *p, struct vram_family *f)
{
    struct vram_default d;
    VRAM_TRY(vram_parse_name(p, &d.key));
    VRAM_TRY(vram_parse_expect(p, "="));
    VRAM_TRY(vram_parse_expr(p, &d.value));
    f->ndefaults++;
    if (!vram_vec_push(&p->program->defaults, p->cx->arena, d))
        return vram_fail_memory(p->cx);
    return VRAM_OK;
}

static int text(struct vram_parser *p, vram_sym *out)
{
    if (p->lex.token != VRAM_T_STRING)
        return vram_lexer_fail(&p->lex, "expected the beginning of a name, in quotes");
    VRAM_TRY(vram_parse_intern(p, out));
    return vram_parse_next(p);
}

/* rename "FROM" to "TO": names of tensors that begin so in the files */
static int rename_line(struct vram_parser *p, struct vram_family *f)
{
    struct vram_renaming r;
    bool taken;
    VRAM_TRY(text(p, &r.from));
    VRAM_TRY(vram_parse_take_name(p, "to", &taken));
    if (!taken)
        return vram_lexer_fail(&p->lex, "expected 'to'");
    VRAM_TRY(text(p, &r.to));
    f->nrenamings++;
    if (!vram_vec_push(&p->program->renamings, p->cx->arena, r))
        return vram_fail_memory(p->cx);
    return VRAM_OK;
}

/* parallel STYLE "ENDS": how modules whose paths end so are split over ranks */
static int parallel_line(struct vram_parser *p, struct vram_family *f)
{
    struct vram_parallel r;
    VRAM_TRY(vram_parse_name(p, &r.style));
    VRAM_TRY(text(p, &r.ends));
    f->nparallels++;
    if (!vram_vec_push(&p->program->parallels, p->cx->arena, r))
        return vram_fail_memory(p->cx);
    return VRAM_OK;
}

/* The indented lines below a family, if there are any. */
static int family_body(struct vram_parser *p, struct vram_family *f)
{
    f->defaults = (uint32_t)p->program->defaults.n;
    f->renamings = (uint32_t)p->program->renamings.n;
    f->parallels = (uint32_t)p->program->parallels.n;
    p->nlocals = 0;
    if (p->lex.token != VRAM_T_INDENT)
        return VRAM_OK;
    VRAM_TRY(vram_parse_next(p));
    while (p->lex.token != VRAM_T_DEDENT) {
        int (*read)(struct vram_parser *p, struct vram_family *f) =
            vram_parse_is_name(p, "default")    ? default_line
            : vram_parse_is_name(p, "rename")   ? rename_line
            : vram_parse_is_name(p, "parallel") ? parallel_line
                                                : NULL;
        if (!read)
            return vram_lexer_fail(&p->lex, "expected 'default', 'rename' or 'parallel'");
        VRAM_TRY(vram_parse_next(p));
        VRAM_TRY(read(p, f));
        VRAM_TRY(vram_parse_end_line(p));
    }
    return vram_parse_next(p);
}

/* family MODEL_TYPE: BASE, CAUSAL; a model_type that is no name stands in quotes */
int vram_parse_family(struct vram_parser *p)
{
    struct vram_family f = {.file = p->file, .line = p->lex.token_line};
    bool more;
    VRAM_TRY(vram_parse_next(p));
    f.quoted = p->lex.token == VRAM_T_STRING;
    if (f.quoted) {
        VRAM_TRY(vram_parse_intern(p, &f.model_type));
        VRAM_TRY(vram_parse_next(p));
    } else {
        VRAM_TRY(vram_parse_name(p, &f.model_type));
    }
    const struct vram_family *before = vram_program_family(p->program, f.model_type);
    if (before && before->file >= p->program->own_files)
        return vram_parse_twice(p, f.model_type, f.line, before->file, before->line);
    VRAM_TRY(vram_parse_expect(p, ":"));
    VRAM_TRY(vram_parse_name(p, &f.base));
    VRAM_TRY(vram_parse_take(p, ",", &more));
    if (more)
        VRAM_TRY(vram_parse_name(p, &f.causal));
    VRAM_TRY(vram_parse_end_line(p));
    VRAM_TRY(family_body(p, &f));
    return vram_program_add_family(p->cx, p->program, &f);
}
