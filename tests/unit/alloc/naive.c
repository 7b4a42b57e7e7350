/* SPDX-License-Identifier: Apache-2.0
 *
 * See naive.h.
 */
#include "naive.h"

#include <stdlib.h>
#include <string.h>

#define MIB (UINT64_C(1) << 20)

enum { NONE = -1 };

static uint64_t up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

static uint64_t max_split(const struct naive *m)
{
    return m->options.max_split ? m->options.max_split : UINT64_MAX;
}

static void insert(struct naive *m, size_t i, struct naive_piece piece)
{
    if (m->n == NAIVE_MOST)
        abort();
    memmove(&m->at[i + 1], &m->at[i], (m->n - i) * sizeof *m->at);
    m->at[i] = piece;
    m->n++;
}

static void drop(struct naive *m, size_t i)
{
    m->n--;
    memmove(&m->at[i], &m->at[i + 1], (m->n - i) * sizeof *m->at);
}

static bool same_segment(const struct naive *m, size_t i, size_t j)
{
    return j < m->n && i < m->n && m->at[i].segment == m->at[j].segment;
}

static bool whole(const struct naive *m, size_t i)
{
    return m->at[i].free && !same_segment(m, i, i - 1) && !same_segment(m, i, i + 1);
}

/* An expandable range ends here, with room to grow. */
static bool edge(const struct naive *m, size_t i)
{
    return m->options.expandable && !same_segment(m, i, i + 1);
}

/* The first by (edge, size, address): one edge a pool, which is taken only for want of another. */
static long best_fit(const struct naive *m, unsigned pool, uint64_t size)
{
    long best = NONE;
    for (size_t i = 0; i < m->n; i++) {
        const struct naive_piece *p = &m->at[i];
        if (!p->free || p->pool != pool || p->size < size)
            continue;
        if (best == NONE || (edge(m, (size_t)best) && !edge(m, i)) ||
            (edge(m, (size_t)best) == edge(m, i) && p->size < m->at[best].size))
            best = (long)i;
    }
    return best;
}

static long find_free(const struct naive *m, unsigned pool, uint64_t size)
{
    long i = best_fit(m, pool, size);
    if (i == NONE)
        return NONE;
    uint64_t rest = m->at[i].size - size, most = m->options.max_non_split;
    if (size < max_split(m) && m->at[i].size >= max_split(m))
        return NONE;
    if (size >= max_split(m) && rest >= (most ? most : 20 * MIB))
        return NONE;
    return i;
}

static long map(struct naive *m, unsigned pool, uint64_t size)
{
    uint64_t page = pool % 2 ? 20 * MIB : 2 * MIB, base = (uint64_t)pool << 57;
    size_t end = 0; /* behind the pool's range */
    while (end < m->n && m->at[end].addr < base + (UINT64_C(1) << 57))
        end++;
    bool any = end > 0 && m->at[end - 1].pool == pool;
    if (!any || !m->at[end - 1].free) {
        uint64_t addr = any ? m->at[end - 1].addr + m->at[end - 1].size : base;
        m->segments += !any;
        insert(m, end++, (struct naive_piece){addr, 0, base, pool, true});
    }
    uint64_t bytes = up(size - m->at[end - 1].size, page);
    m->at[end - 1].size += bytes;
    m->reserved += bytes;
    return (long)end - 1;
}

static long grow(struct naive *m, unsigned pool, uint64_t size)
{
    uint64_t bytes = size <= MIB ? 2 * MIB : size < 10 * MIB ? 20 * MIB : up(size, 2 * MIB);
    long i = NONE;
    if (m->options.expandable) {
        i = map(m, pool, size);
    } else if (!m->options.total || m->reserved + bytes <= m->options.total) {
        i = (long)m->n;
        insert(m, m->n, (struct naive_piece){m->top, bytes, m->top, pool, true});
        m->top += bytes;
        m->reserved += bytes;
        m->segments++;
    }
    if (m->reserved > m->peak_reserved)
        m->peak_reserved = m->reserved;
    return i;
}

static void give_back(struct naive *m, size_t i)
{
    m->reserved -= m->at[i].size;
    m->segments--;
    drop(m, i);
}

void naive_empty(struct naive *m)
{
    for (size_t i = m->n; i-- > 0;)
        if (whole(m, i))
            give_back(m, i);
}

static bool release_oversize(struct naive *m, unsigned pool, uint64_t size)
{
    uint64_t split = max_split(m), got = 0;
    if (split == UINT64_MAX)
        return false;
    uint64_t key = size > split ? size : up(split, 512);
    long i = best_fit(m, pool, key);
    if (i != NONE && whole(m, (size_t)i)) {
        give_back(m, (size_t)i);
        return true;
    }
    while (got < key) {
        long largest = NONE;
        for (size_t k = 0; k < m->n; k++)
            if (m->at[k].free && m->at[k].pool == pool &&
                (largest == NONE || m->at[k].size >= m->at[largest].size))
                largest = (long)k;
        if (largest == NONE || m->at[largest].size < split || !whole(m, (size_t)largest))
            break;
        got += m->at[largest].size;
        give_back(m, (size_t)largest);
    }
    return got >= key;
}

static uint64_t round_request(const struct naive *m, uint64_t n)
{
    uint64_t divisions = m->options.power2_divisions, power = 1;
    if (divisions < 2 || n <= 512 * divisions)
        return up(n, 512);
    while (power * 2 <= n)
        power *= 2;
    return up(n, power / divisions);
}

uint64_t naive_malloc(struct naive *m, uint64_t n, unsigned stream)
{
    uint64_t size = round_request(m, n);
    unsigned pool = stream * 2 + (size > MIB);
    long i = find_free(m, pool, size);
    if (i == NONE)
        i = grow(m, pool, size);
    if (i == NONE && release_oversize(m, pool, size))
        i = grow(m, pool, size);
    if (i == NONE) {
        m->retries++;
        naive_empty(m);
        i = grow(m, pool, size);
    }
    if (i == NONE)
        return UINT64_MAX;
    struct naive_piece *p = &m->at[i];
    uint64_t rest = p->size - size;
    bool any = m->options.expandable || pool % 2 == 0;
    if (any ? rest >= 512 : size < max_split(m) && rest > MIB) {
        p->size = size;
        insert(m, (size_t)i + 1,
               (struct naive_piece){p->addr + size, rest, p->segment, pool, true});
    }
    p->free = false;
    m->allocated += p->size;
    return p->addr;
}

void naive_free(struct naive *m, uint64_t addr)
{
    size_t i = 0;
    while (m->at[i].addr != addr)
        i++;
    m->allocated -= m->at[i].size;
    m->at[i].free = true;
    for (size_t k = 0; k < 2; k++, i--) { /* with the next one, then the one before with it */
        if (i < m->n && same_segment(m, i, i + 1) && m->at[i].free && m->at[i + 1].free) {
            m->at[i].size += m->at[i + 1].size;
            drop(m, i + 1);
        }
    }
}
