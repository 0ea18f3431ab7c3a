/* pieces.c -- texts as bags of pieces, numbered by a table of hashes (FNV-1a), and their products.
 * Row i spreads its counts over the pieces of the other side that they are linked with; each of its
 * products is then one pass over the pieces of the other text.  All counts and weights are whole
 * numbers, so sums below 2^53 are exact in any order. */
#include "texts.h"

#include <string.h>

static uint64_t hash_piece(cri_piece p)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < p.length; i++) h = (h ^ (unsigned char)p.at[i]) * 1099511628211u;
    return h ^ h >> 29;
}

/* The slot of a piece: where it is, or where it would go. */
static size_t find_slot(const cri_pieces *p, cri_piece piece)
{
    size_t at = (size_t)hash_piece(piece) & p->mask;
    for (; p->slot[at]; at = (at + 1) & p->mask) {
        cri_piece other = p->piece[p->slot[at] - 1];
        if (other.length == piece.length && memcmp(other.at, piece.at, piece.length) == 0) break;
    }
    return at;
}

/* The counts of one text behind those before it; last[u] = 1 + the place of piece u in it, if it
 * has come up in this text. */
static size_t count_pieces(cri_pieces *p, const cri_piece *cut, size_t n, size_t begin,
                           size_t *last)
{
    size_t end = begin;
    for (size_t q = 0; q < n; q++) {
        size_t at = find_slot(p, cut[q]);
        if (!p->slot[at]) {
            p->piece[p->n] = cut[q];
            p->slot[at] = ++p->n;
        }
        size_t u = p->slot[at] - 1;
        if (last[u] <= begin) {
            p->id[end] = u;
            p->count[end] = 0;
            last[u] = ++end;
        }
        p->count[last[u] - 1]++;
    }
    return end;
}

cr_status cri_pieces_cut(cr_scratch *s, const cri_job *job, size_t node, cri_texts *t,
                         cri_cut_fn *cut)
{
    cr_status       st = CR_OK;
    const cri_node *at = &job->k->nodes[node];
    size_t          total = 0, most = 0, slots = 16;
    for (size_t i = 0; i < t->n; i++) {
        size_t n = cut(at, t->text[i], NULL);
        total += n;
        if (n > most) most = n;
    }
    while (slots < 2 * total) slots *= 2;
    cri_pieces *p = cr_scratch_bytes(s, 1, sizeof *p);
    cri_piece  *one = cr_scratch_bytes(s, most, sizeof *one);
    size_t     *last = cr_scratch_index(s, total);
    CR_TRY(s->status);
    *p = (cri_pieces){ .piece = cr_scratch_bytes(s, total, sizeof *p->piece),
                       .begin = cr_scratch_index(s, t->n + 1),
                       .id = cr_scratch_index(s, total),
                       .count = cr_scratch_f64(s, total),
                       .slot = cr_scratch_index(s, slots),
                       .mask = slots - 1 };
    CR_TRY(s->status);
    memset(last, 0, total * sizeof *last);
    memset(p->slot, 0, slots * sizeof *p->slot);
    p->begin[0] = 0;
    for (size_t i = 0; i < t->n; i++) {
        size_t n = cut(at, t->text[i], one);
        p->begin[i + 1] = count_pieces(p, one, n, p->begin[i], last);
        if (i % 256 == 0) CR_TRY(cr_check_interrupt(s->cx));
    }
    t->ready = p;
done:
    return st;
}

cr_status cri_pieces_join(cr_scratch *s, const cri_job *job, size_t node, cri_texts *a,
                          const cri_texts *b)
{
    const cri_pieces *p = a->ready, *q = b->ready;
    cri_links        *l = cr_scratch_bytes(s, 1, sizeof *l);
    size_t           *begin = cr_scratch_index(s, p->n + 1), *to = cr_scratch_index(s, p->n);
    double           *weight = cr_scratch_f64(s, p->n);
    (void)job, (void)node;
    if (s->status != CR_OK) return s->status;
    begin[0] = 0;
    for (size_t u = 0; u < p->n; u++) {
        size_t found = q->slot[find_slot(q, p->piece[u])];
        begin[u + 1] = begin[u] + (found > 0);
        if (found) to[begin[u]] = found - 1, weight[begin[u]] = 1;
    }
    *l = (cri_links){ begin, to, weight };
    a->links = l;
    return CR_OK;
}

size_t cri_pieces_workspace_size(const cri_job *job, size_t node, const cri_texts *a,
                                 const cri_texts *b)
{
    const cri_pieces *q = b->ready;
    (void)job, (void)node, (void)a;
    return q->n;
}

void cri_pieces_row(const cri_job *job, size_t node, const cri_texts *a, const cri_texts *b,
                    size_t i, const size_t *j, size_t n, double *workspace, double *values,
                    double *slopes)
{
    const cri_pieces *p = a->ready, *q = b->ready;
    const cri_links  *l = a->links;
    (void)job, (void)node, (void)slopes;
    for (size_t e = p->begin[i]; e < p->begin[i + 1]; e++)
        for (size_t f = l->begin[p->id[e]]; f < l->begin[p->id[e] + 1]; f++)
            workspace[l->to[f]] += p->count[e] * l->weight[f];
    for (size_t c = 0; c < n; c++) {
        double sum = 0;
        for (size_t e = q->begin[j[c]]; e < q->begin[j[c] + 1]; e++)
            sum += workspace[q->id[e]] * q->count[e];
        values[c] = sum;
    }
    for (size_t e = p->begin[i]; e < p->begin[i + 1]; e++)
        for (size_t f = l->begin[p->id[e]]; f < l->begin[p->id[e] + 1]; f++)
            workspace[l->to[f]] = 0;
}
