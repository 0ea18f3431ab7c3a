/* sets.c -- kernels of texts as sets of words, which are what stands between blanks, commas,
 * semicolons and bars; a word that is there twice counts once. */
#include "texts.h"

#include <math.h>
#include <string.h>

static const char between[] = " \t\r\n,;|";

static size_t cut_words(const cri_node *node, const char *text, cri_piece *out)
{
    size_t n = 0;
    (void)node;
    for (text += strspn(text, between); *text; text += strspn(text, between)) {
        size_t length = strcspn(text, between);
        if (out) out[n] = (cri_piece){ text, length };
        n++, text += length;
    }
    return n;
}

static cr_status read_words(cr_scratch *s, const cri_job *job, size_t node, cri_texts *t)
{
    cr_status   st = cri_pieces_cut(s, job, node, t, cut_words);
    cri_pieces *p = t->ready;
    for (size_t e = 0; st == CR_OK && e < p->begin[t->n]; e++) p->count[e] = 1;
    return st;
}

static double size_of(const cri_texts *t, size_t i)
{
    const cri_pieces *p = t->ready;
    return (double)(p->begin[i + 1] - p->begin[i]);
}

/* --- set ------------------------------------------------------------------------------------- */

static void set_row(const cri_job *job, size_t node, const cri_texts *a, const cri_texts *b,
                    size_t i, const size_t *j, size_t n, double *workspace, double *values,
                    double *slopes)
{
    cri_pieces_row(job, node, a, b, i, j, n, workspace, values, slopes);
    for (size_t q = 0; q < n; q++) values[q] = exp2(values[q]);
}

static cri_slope set_own(const cri_job *job, size_t node, const cri_texts *t, size_t i,
                         double *workspace)
{
    (void)job, (void)node, (void)workspace;
    return (cri_slope){ exp2(size_of(t, i)), 0 };
}

static const cri_text_kernel set = { .read = read_words,
                                     .join = cri_pieces_join,
                                     .workspace = cri_pieces_workspace_size,
                                     .row = set_row,
                                     .own = set_own };

static const cri_spec no_specs[] = { CRI_LAST_SPEC };

const cr_kernel_class cri_kernel_set = {
    .name = "set",
    .summary = "sets of words: the number of subsets they share",
    .formula = "k(A, B) = 2^|A and B|\n"
               "Words are separated by blanks, commas, semicolons and bars.",
    .reference = "Bishop (2006), Pattern Recognition and Machine Learning, eq. 6.27",
    .example = "set(tags)",
    .specs = no_specs,
    CRI_TEXT_CLASS(&set),
};

/* --- jaccard --------------------------------------------------------------------------------- */

static void jaccard_row(const cri_job *job, size_t node, const cri_texts *a, const cri_texts *b,
                        size_t i, const size_t *j, size_t n, double *workspace, double *values,
                        double *slopes)
{
    cri_pieces_row(job, node, a, b, i, j, n, workspace, values, slopes);
    for (size_t q = 0; q < n; q++) {
        double either = size_of(a, i) + size_of(b, j[q]) - values[q];
        values[q] = either > 0 ? values[q] / either : 1;
    }
}

static cri_slope jaccard_own(const cri_job *job, size_t node, const cri_texts *t, size_t i,
                             double *workspace)
{
    (void)job, (void)node, (void)t, (void)i, (void)workspace;
    return (cri_slope){ 1, 0 };
}

static const cri_text_kernel jaccard = { .read = read_words,
                                         .join = cri_pieces_join,
                                         .workspace = cri_pieces_workspace_size,
                                         .row = jaccard_row,
                                         .own = jaccard_own };

const cr_kernel_class cri_kernel_jaccard = {
    .name = "jaccard",
    .aliases = "tanimoto",
    .summary = "sets of words: the share of all their words that they have in common",
    .formula = "k(A, B) = |A and B| / |A or B|, and 1 for two empty sets\n"
               "Words are separated by blanks, commas, semicolons and bars.",
    .reference =
        "Ralaivola, Swamidass, Saigo & Baldi (2005), Graph kernels for chemical informatics",
    .example = "jaccard(tags)",
    .specs = no_specs,
    CRI_TEXT_CLASS(&jaccard),
};
