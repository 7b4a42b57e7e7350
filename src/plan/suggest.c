/* SPDX-License-Identifier: Apache-2.0
 *
 * Nearest words; see suggest.h.  The distance counts letters left out, added or replaced, and
 * neighbours exchanged (optimal string alignment).
 */
#include "plan/suggest.h"

#include <stdbool.h>
#include <string.h>

enum { LONGEST = 63, BEGINNING = 4 };

void vram_suggest_init(struct vram_suggestion *s, const char *given)
{
    *s = (struct vram_suggestion){.given = given, .n = strlen(given)};
    /* about one mistake in three letters is still a mistake, more is another word */
    s->distance = s->n > LONGEST ? 0 : (unsigned)(s->n / 3) + 1;
    if (s->distance > 4)
        s->distance = 4;
    s->limit = s->distance;
}

static char fold(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c == '_' ? '-' : c;
}

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

static unsigned distance(const char *a, size_t na, const char *b, size_t nb)
{
    unsigned rows[3][LONGEST + 1];
    for (unsigned j = 0; j <= nb; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= na; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (unsigned j = 1; j <= nb; j++) {
            unsigned differs = fold(a[i - 1]) != fold(b[j - 1]);
            unsigned d = least(least(above[j], row[j - 1]) + 1, above[j - 1] + differs);
            if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) &&
                fold(a[i - 2]) == fold(b[j - 1]))
                d = least(d, above2[j - 2] + 1);
            row[j] = d;
        }
    }
    return rows[na % 3][nb];
}

void vram_suggest_offer(struct vram_suggestion *s, const char *word, size_t n)
{
    if (n > LONGEST || s->n > LONGEST || s->distance == 0)
        return;
    size_t gap = n > s->n ? n - s->n : s->n - n, same = 0;
    while (same < n && same < s->n && fold(word[same]) == fold(s->given[same]))
        same++;
    /* one is the beginning of the other ("inference"): never too far */
    bool begins = same >= BEGINNING && same == (n < s->n ? n : s->n);
    if (gap >= s->distance && !begins)
        return;
    unsigned d = begins ? (gap < s->limit ? (unsigned)gap : s->limit - 1)
                        : distance(s->given, s->n, word, n);
    if (d < s->distance) {
        s->distance = d;
        s->word = word;
        s->word_n = n;
    }
}
