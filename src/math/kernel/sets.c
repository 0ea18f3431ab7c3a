/* sets.c -- kernels of texts as sets of words, which are what stands between blanks, commas,
 * semicolons and bars; a word that is there twice counts once. */
#include "kernel_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct word {
    const char *text;
    size_t      length;
} word;

typedef struct words {
    size_t *begin, *end; /* [rows] */
    word   *word;        /* those of a row in order, each once */
} words;

static const char between[] = " \t\r\n,;|";

static int compare_words(const void *a, const void *b)
{
    const word *x = a, *y = b;
    size_t      n = x->length < y->length ? x->length : y->length;
    int         order = memcmp(x->text, y->text, n);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* The words of a text into out (NULL: counted only). */
static size_t split(const char *text, word *out)
{
    size_t n = 0;
    for (text += strspn(text, between); *text; text += strspn(text, between)) {
        size_t length = strcspn(text, between);
        if (out) out[n] = (word){ text, length };
        n++, text += length;
    }
    return n;
}

static const char *text_of(const cri_side *side, const cr_kernel *k, const cri_node *node, size_t i)
{
    const char *text = cri_text_of(k, node, side->in, i);
    return text ? text : "";
}

static cr_status prepare(cr_scratch *s, const cri_job *job, size_t at, cri_side *side)
{
    const cri_node *node = &job->k->nodes[at];
    size_t          rows = side->in->rows, total = 0, used = 0;
    for (size_t i = 0; i < rows; i++) total += split(text_of(side, job->k, node, i), NULL);
    words *w = cr_scratch_bytes(s, 1, sizeof *w);
    word  *all = cr_scratch_bytes(s, total, sizeof *all);
    size_t *begin = cr_scratch_index(s, rows), *end = cr_scratch_index(s, rows);
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < rows; i++) {
        size_t n = split(text_of(side, job->k, node, i), all + used), kept = 0;
        qsort(all + used, n, sizeof *all, compare_words);
        for (size_t q = 0; q < n; q++)
            if (kept == 0 || compare_words(&all[used + kept - 1], &all[used + q]) != 0)
                all[used + kept++] = all[used + q];
        begin[i] = used, end[i] = used + kept, used += n;
    }
    *w = (words){ begin, end, all };
    side->node[at].extra = w;
    return CR_OK;
}

/* The size of both sets and of what they share. */
static void count(const words *a, size_t i, const words *b, size_t j, double *both, double *either)
{
    size_t x = a->begin[i], y = b->begin[j], shared = 0;
    while (x < a->end[i] && y < b->end[j]) {
        int order = compare_words(&a->word[x], &b->word[y]);
        shared += order == 0;
        x += order <= 0, y += order >= 0;
    }
    *both = (double)shared;
    *either = (double)(a->end[i] - a->begin[i] + b->end[j] - b->begin[j] - shared);
}

static void set_pairs(const cri_job *job, size_t at, cri_tile tile, double *out)
{
    const words *a = job->a.node[at].extra, *b = tile.diagonal ? a : job->b.node[at].extra;
    double       both, either;
    for (size_t i = 0; i < tile.ni; i++)
        for (size_t j = 0; j < tile.nj; j++) {
            count(a, tile.i0 + i, b, tile.diagonal ? tile.i0 + i : tile.j0 + j, &both, &either);
            out[i * tile.nj + j] = exp2(both);
        }
}

static void jaccard_pairs(const cri_job *job, size_t at, cri_tile tile, double *out)
{
    const words *a = job->a.node[at].extra, *b = tile.diagonal ? a : job->b.node[at].extra;
    double       both, either;
    for (size_t i = 0; i < tile.ni; i++)
        for (size_t j = 0; j < tile.nj; j++) {
            count(a, tile.i0 + i, b, tile.diagonal ? tile.i0 + i : tile.j0 + j, &both, &either);
            out[i * tile.nj + j] = either > 0 ? both / either : 1;
        }
}

static const cri_spec no_specs[] = { CRI_LAST_SPEC };

const cr_kernel_class cri_kernel_set = {
    .name = "set",
    .aliases = "",
    .summary = "sets of words: the number of subsets that they share",
    .formula = "k(A, B) = 2^|A and B|",
    .reference = "Bishop (2006), Pattern Recognition and Machine Learning, eq. 6.27",
    .example = "set(tags)",
    .specs = no_specs,
    .family = CRI_PAIRS,
    .kind = CR_KERNEL_TEXT,
    .one_column = true,
    .pairs = set_pairs,
    .prepare = prepare,
};

const cr_kernel_class cri_kernel_jaccard = {
    .name = "jaccard",
    .aliases = "tanimoto",
    .summary = "sets of words: what they share of all that they have",
    .formula = "k(A, B) = |A and B| / |A or B|, and 1 for two empty sets",
    .reference = "Ralaivola, Swamidass, Saigo & Baldi (2005), Graph kernels for chemical informatics",
    .example = "jaccard(tags)",
    .specs = no_specs,
    .family = CRI_PAIRS,
    .kind = CR_KERNEL_TEXT,
    .one_column = true,
    .pairs = jaccard_pairs,
    .prepare = prepare,
};
