/* SPDX-License-Identifier: Apache-2.0
 *
 * Templates as data: what module classes are made of and what they run.  The parser
 * (loaders/text) appends definitions; vram_program_link resolves names; after that nothing
 * changes and any number of runs may read it.  The language is described in docs/templates.md.
 *
 * Expressions and statements are nodes in one array; lists of nodes are runs in `lists`.
 */
#ifndef VRAM_IR_PROGRAM_H
#define VRAM_IR_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cx.h"

enum vram_node_kind {
    /* expressions */
    VRAM_N_NONE,
    VRAM_N_BOOL,    /* a = 0 or 1 */
    VRAM_N_INT,     /* number a of ints */
    VRAM_N_FLOAT,   /* number a of floats */
    VRAM_N_STRING,  /* sym a */
    VRAM_N_DTYPE,   /* enum vram_dtype a */
    VRAM_N_SLOT,    /* local a */
    VRAM_N_NAME,    /* sym a, not local: resolved by the linker into one of the next four */
    VRAM_N_MEMBER,  /* member a of the running module's class */
    VRAM_N_FUNC,    /* function a */
    VRAM_N_CLASS,   /* module class a */
    VRAM_N_OP,      /* native op a */
    VRAM_N_CONTEXT, /* enum vram_context a */
    VRAM_N_CONFIG,  /* the running module's config */
    VRAM_N_SETTING, /* plan key sym a */
    VRAM_N_FIELD,   /* node a . sym b */
    VRAM_N_INDEX,   /* node a [ node b ] */
    VRAM_N_BINARY,  /* enum vram_operator c: node a, node b */
    VRAM_N_NOT,     /* node a */
    VRAM_N_NEGATE,  /* node a */
    VRAM_N_AND,     /* node a, node b */
    VRAM_N_OR,
    VRAM_N_CHOICE,  /* node b if node a else node c */
    VRAM_N_TUPLE,   /* list a of b nodes */
    VRAM_N_LIST,
    VRAM_N_RECORD,  /* list a of b pairs (sym, node) */
    VRAM_N_CALL,    /* callee a; list b: c arguments, then pairs (sym, node) to the end; see call */
    /* statements */
    VRAM_S_ASSIGN,  /* target a = node b */
    VRAM_S_EXPR,    /* node a */
    VRAM_S_RETURN,  /* node a */
    VRAM_S_DEL,     /* slot a */
    VRAM_S_IF,      /* test a, block b, else-block c (0 = none) */
    VRAM_S_FOR,     /* target a in node b: block c */
    VRAM_S_AUTOCAST,/* node a (a dtype or none = off): block b */
    VRAM_S_NOGRAD,  /* block b */
    VRAM_S_PHASE,   /* sym a */
    VRAM_S_BLOCK,   /* list a of b statements */
    VRAM_N_COUNT
};

enum vram_operator { VRAM_OPERATOR_ADD, VRAM_OPERATOR_SUB, VRAM_OPERATOR_MUL, VRAM_OPERATOR_DIV,
                     VRAM_OPERATOR_FLOORDIV, VRAM_OPERATOR_MOD, VRAM_OPERATOR_EQ, VRAM_OPERATOR_NE,
                     VRAM_OPERATOR_LT, VRAM_OPERATOR_LE, VRAM_OPERATOR_GT, VRAM_OPERATOR_GE };

/* What code may ask about the run. */
enum vram_context { VRAM_CONTEXT_TRAINING, VRAM_CONTEXT_GRAD, VRAM_CONTEXT_AUTOCAST,
                    VRAM_CONTEXT_CHECKPOINTING, VRAM_CONTEXT_COUNT };

struct vram_node {
    uint8_t kind;      /* enum vram_node_kind */
    uint8_t nkw;       /* CALL: keyword pairs */
    uint16_t column;
    uint32_t line;
    uint32_t a, b, c;
};

struct vram_param_def {
    vram_sym name;
    uint32_t fallback; /* node + 1; 0 = required */
};

/* A body and its frame.  Slots: parameters first (positional, keyword, then **kw), then names that
 * are assigned. */
struct vram_callable {
    uint32_t params;      /* in params[] */
    uint16_t npositional; /* before ';' */
    uint16_t nkeyword;    /* after ';' */
    bool rest;            /* ends with **kw */
    uint16_t nslots;
    uint32_t body;        /* BLOCK node + 1; 0 = the class does not say what it runs */
};

enum vram_decl_kind { VRAM_DECL_ATTR, VRAM_DECL_PARAM, VRAM_DECL_BUFFER, VRAM_DECL_CHILD,
                      VRAM_DECL_CHILDREN, VRAM_DECL_METHOD };

/* A member of a module class.  Node numbers are + 1, 0 = absent. */
struct vram_decl {
    uint8_t kind;        /* enum vram_decl_kind */
    bool init;           /* ATTR: a constructor argument */
    bool input_embedding;/* CHILD: what get_input_embeddings() finds */
    bool decay_set, decay;/* PARAM: weight decay said explicitly */
    uint16_t loop_slot;  /* CHILDREN: 1 + slot of the `as` variable; 0 = none */
    vram_sym loop;       /* its name */
    vram_sym place;      /* CHILD: its name in paths, a number or `here`; 0 = its own name */
    vram_sym name;
    vram_sym component;  /* CHILD, CHILDREN: 0 = the parent's */
    uint32_t value;      /* ATTR: expression; CHILD(REN): CALL node that constructs */
    uint32_t fallback;   /* ATTR: after `else` */
    uint32_t dims;       /* PARAM, BUFFER: LIST node */
    uint32_t dtype;      /* PARAM, BUFFER */
    uint32_t count;      /* CHILDREN */
    uint32_t config;     /* CHILD(REN): after `using` */
    uint32_t condition;  /* after `if` */
    uint32_t function;   /* METHOD: number of the function */
    uint32_t line;
};

struct vram_tie {
    uint32_t left, right; /* lists of syms: a path below the module */
    uint32_t nleft, nright;
    uint32_t condition;   /* node + 1 */
    uint32_t line;
};

struct vram_class {
    vram_sym name;
    vram_sym extends;        /* 0 = nothing */
    uint32_t base;           /* class it extends, linked; UINT32_MAX = none */
    uint16_t file;
    uint32_t line;
    bool has_signature;      /* false: the base's parameters hold */
    bool checkpointed;       /* the framework may re-run a call instead of keeping its tensors */
    vram_sym component;      /* of the class when it is the root; 0 = none said */
    struct vram_callable forward;
    uint32_t init, ninit;    /* constructor parameters, in params[] */
    uint32_t npositional;    /* of them, before ';' */
    uint32_t build_slots;    /* slots of the frame in which declarations are evaluated */
    uint32_t decls, ndecls;  /* own declarations, in decls[] */
    uint32_t ties, nties;
    /* linked: own and inherited members in order; indices stay valid in every extending class */
    uint32_t *members;       /* indices into decls[] */
    uint32_t nmembers;
    bool linked, linking;
};

struct vram_function {
    vram_sym name;
    uint16_t file;
    uint32_t line;
    uint32_t owner;          /* class whose method it is; UINT32_MAX = free function */
    struct vram_callable callable;
};

/* Below a family: what a config leaves out, and how files spell names of tensors. */
struct vram_default {
    vram_sym key;
    uint32_t value;          /* node */
};
struct vram_renaming {
    vram_sym from, to;       /* beginnings of names */
};
struct vram_parallel {
    vram_sym style;          /* how they are split over ranks (docs/templates.md) */
    vram_sym ends;           /* of paths of modules or parameters, apart by spaces */
};

/* `family llama: LlamaModel, LlamaForCausalLM`: model_type → classes by purpose */
struct vram_family {
    vram_sym model_type;
    vram_sym base, causal;   /* class names; causal = 0 when there is none */
    bool quoted;             /* the model_type is written as a string */
    bool linked;
    uint16_t file;
    uint32_t line;
    uint32_t defaults, ndefaults;   /* in defaults[] */
    uint32_t renamings, nrenamings; /* in renamings[] */
    uint32_t parallels, nparallels; /* in parallels[] */
};

#define VRAM_GROW(type)                                                                            \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t n, cap;                                                                             \
    }

struct vram_program {
    VRAM_GROW(struct vram_node) nodes;
    VRAM_GROW(uint32_t) lists;
    VRAM_GROW(int64_t) ints;
    VRAM_GROW(double) floats;
    VRAM_GROW(struct vram_param_def) params;
    VRAM_GROW(struct vram_decl) decls;
    VRAM_GROW(struct vram_tie) ties;
    VRAM_GROW(struct vram_class) classes;
    VRAM_GROW(struct vram_function) functions;
    VRAM_GROW(struct vram_family) families;
    VRAM_GROW(uint32_t) family_by_type; /* by sym: 1 + the first family of that model_type */
    VRAM_GROW(struct vram_default) defaults;
    VRAM_GROW(struct vram_renaming) renamings;
    VRAM_GROW(struct vram_parallel) parallels;
    VRAM_GROW(const char *) files;
    VRAM_GROW(uint32_t) first_nodes; /* by file: its nodes are from here to the next file's */
    uint16_t own_files;  /* the first so many are the user's: they hide later definitions */
    bool checked;        /* their names have been looked at */
    void *scratch;       /* the parser's room for a class, used again for the next */
    VRAM_GROW(uint32_t) by_name; /* by sym: 1 + class, or 1 + function | high bit; 0 = undefined */
};

/* Finds the definition of a name that is not there yet (parses the file that has it).  Returns 0,
 * VRAM_E_NOTFOUND when no file has it, or another error. */
typedef int (*vram_require_fn)(void *ctx, struct vram_cx *cx, struct vram_program *program,
                               vram_sym name);
/* The number of a native op; UINT32_MAX when there is none. */
typedef uint32_t (*vram_op_fn)(const char *name);

struct vram_linker {
    vram_require_fn require;
    void *ctx;
    vram_op_fn op;
};

#define VRAM_NO_INDEX UINT32_MAX

/* Defined classes and functions; VRAM_NO_INDEX when unknown. */
uint32_t vram_program_class(const struct vram_program *program, vram_sym name);
uint32_t vram_program_function(const struct vram_program *program, vram_sym name);
/* The family row of a model_type; NULL when unknown. */
const struct vram_family *vram_program_family(const struct vram_program *program,
                                              vram_sym model_type);
/* Appends a family; the first one of a model_type is the one that is found. */
int vram_program_add_family(struct vram_cx *cx, struct vram_program *program,
                            const struct vram_family *family);
/* The file that a node was read from; "" when there is no such node. */
const char *vram_program_file(const struct vram_program *program, uint32_t node);
/* Registers the definition; the first one of a name stays (files of the user come first). */
int vram_program_define(struct vram_cx *cx, struct vram_program *program, vram_sym name,
                        uint32_t code);
#define VRAM_CODE_FUNCTION UINT32_C(0x80000000)

/* Resolves a class and everything its declarations and body name. */
int vram_program_link(struct vram_cx *cx, struct vram_program *program,
                      const struct vram_linker *linker, uint32_t cls);
/* Resolves what the defaults of a family name. */
int vram_program_link_family(struct vram_cx *cx, struct vram_program *program,
                             const struct vram_linker *linker, const struct vram_family *family);
/* A member of a linked class by name; VRAM_NO_INDEX when it has none. */
uint32_t vram_class_member(const struct vram_program *program, const struct vram_class *cls,
                           vram_sym name);

/* Prints the program in the template language; what it prints parses into the same program. */
struct vram_text;
void vram_program_print(struct vram_text *out, const struct vram_syms *syms,
                        const struct vram_program *program);

#endif
