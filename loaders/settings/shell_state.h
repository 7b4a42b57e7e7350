/* SPDX-License-Identifier: Apache-2.0
 *
 * The reader of a script, and what it is made of: pieces of words (words.c), assignments and commands
 * (shell.c).  Private to the two.
 */
#ifndef VRAM_SETTINGS_SHELL_STATE_H
#define VRAM_SETTINGS_SHELL_STATE_H

#include "settings/shell.h"

struct vram_shell {
    struct vram_cx *cx;
    const char *p, *end;
    uint32_t line;
    VRAM_VEC(struct vram_variable) variables;
    VRAM_VEC(char) buffer; /* the word that is read */
    struct vram_command command;
    VRAM_VEC(struct vram_word) array; /* of name=( … ) */
    VRAM_VEC(const char *) documents; /* ends of here-documents that begin behind this line */
    bool started;           /* the word has begun, if only with empty quotes */
    bool in_array;
    bool whole;             /* a value, which no space splits */
    bool skip;              /* the next word is a redirection's file */
    bool exporting;         /* behind export, declare, local, readonly */
    uint32_t word_line, open_line;
    uint64_t made;          /* bytes that variables became */
};

static inline bool is_name_start(char c) { return (c | 32) >= 'a' && (c | 32) <= 'z' ? true : c == '_'; }
static inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool is_name(char c) { return is_name_start(c) || is_digit(c); }
static inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* An error of the line. */
int vram_shell_bad(struct vram_shell *s, uint32_t line, const char *why);
/* Appends to the word, which begins with it; nothing is a word, too. */
int vram_shell_put(struct vram_shell *s, const char *text, size_t n);
/* A part of the word that only running could tell. */
int vram_shell_unknown(struct vram_shell *s);
/* The word as it is now; the next begins. */
int vram_shell_take(struct vram_shell *s, struct vram_word *out);
/* The end of a word, if one has begun: it goes where words go now. */
int vram_shell_finish(struct vram_shell *s);
/* Reads a piece of a word: a quote, an expansion, an escape or a byte. */
int vram_shell_piece(struct vram_shell *s);
/* Passes over what is nested in brackets, from behind the opening one. */
int vram_shell_nested(struct vram_shell *s, char open, char close);
struct vram_variable *vram_shell_find(struct vram_shell *s, const char *name, size_t n);
/* Counts what variables become, up to the limit. */
int vram_shell_spend(struct vram_shell *s, uint64_t bytes);

#endif
