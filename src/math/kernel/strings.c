/* strings.c -- kernels of texts by their pieces of k bytes: spectrum and mismatch.
 * Both may be normalised: k(x, y) / sqrt(k(x, x) k(y, y)), and 0 where a text is too short. */
#include "texts.h"

#include <math.h>
#include <string.h>

enum { K = 0, NORMALISE = 1, MISMATCHES = 2, ALPHABET = 3 };

static bool normalised(const cri_node *node) { return node->setting[NORMALISE] != 0; }

static size_t cut_k_mers(const cri_node *node, const char *text, cri_piece *out)
{
    size_t k = (size_t)node->setting[K], length = strlen(text),
           n = length >= k ? length - k + 1 : 0;
    for (size_t q = 0; out && q < n; q++) out[q] = (cri_piece){ text + q, k };
    return n;
}

static cr_status read_k_mers(cr_scratch *s, const cri_job *job, size_t node, cri_texts *t)
{
    return cri_pieces_cut(s, job, node, t, cut_k_mers);
}

#define K_SPEC(text) CRI_GIVEN("k", NULL, "3", "1..50", text, 3, 1, 50, false)
#define NORMALISE_SPEC                                                                             \
    CRI_GIVEN("normalise", "normalize", "0", "0..1", "1: divide by sqrt(k(x,x) k(y,y))", 0, 0, 1,  \
              false)

/* --- spectrum -------------------------------------------------------------------------------- */

static cri_slope spectrum_own(const cri_job *job, size_t node, const cri_texts *t, size_t i,
                              double *workspace)
{
    const cri_pieces *p = t->ready;
    double            sum = 0;
    (void)job, (void)node, (void)workspace;
    for (size_t e = p->begin[i]; e < p->begin[i + 1]; e++) sum += p->count[e] * p->count[e];
    return (cri_slope){ sum, 0 };
}

static const cri_text_kernel spectrum = { .read = read_k_mers,
                                          .join = cri_pieces_join,
                                          .workspace = cri_pieces_workspace_size,
                                          .row = cri_pieces_row,
                                          .own = spectrum_own,
                                          .normalised = normalised };

static const cri_spec spectrum_specs[] = { K_SPEC("length of the substrings"), NORMALISE_SPEC,
                                           CRI_LAST_SPEC };

const cr_kernel_class cri_kernel_spectrum = {
    .name = "spectrum",
    .summary = "text: shared substrings of k characters",
    .formula = "k(x, y) = sum over strings u of length k of count_x(u) count_y(u)\n"
               "Characters are bytes: a letter outside ASCII is several of them.",
    .reference = "Leslie, Eskin & Noble (2002), The spectrum kernel",
    .example = "spectrum(dna; k=3)",
    .specs = spectrum_specs,
    CRI_TEXT_CLASS(&spectrum),
};

/* --- mismatch -------------------------------------------------------------------------------- */

static double choose(size_t n, size_t k)
{
    double out = 1;
    if (k > n) return 0;
    for (size_t i = 0; i < k; i++) out = out * (double)(n - i) / (double)(i + 1);
    return round(out);
}

/* The number of texts over an alphabet of A letters within m changes of both of two k-mers that
 * differ in h places.  Of those h places, i have the letter of the first, j that of the second, the
 * others neither; of the other k - h places, c are changed. */
static double common_neighbours(size_t k, size_t m, size_t A, size_t h)
{
    double sum = 0;
    for (size_t i = 0; i <= h; i++)
        for (size_t j = 0; i + j <= h; j++)
            for (size_t c = 0; c <= k - h; c++) {
                size_t to_first = h - i + c, to_second = h - j + c;
                if (to_first > m || to_second > m) continue;
                sum += choose(h, i) * choose(h - i, j) * pow((double)A - 2, (double)(h - i - j)) *
                       choose(k - h, c) * pow((double)A - 1, (double)c);
            }
    return sum;
}

/* What two k-mers have in common, by the number of places where they differ. */
typedef struct common {
    size_t k, most; /* 0 beyond most */
    double by[51];
} common;

static common common_of(const cri_node *node)
{
    size_t m = (size_t)node->setting[MISMATCHES];
    common c = { .k = (size_t)node->setting[K] };
    c.most = 2 * m < c.k ? 2 * m : c.k;
    for (size_t h = 0; h <= c.most; h++)
        c.by[h] = common_neighbours(c.k, m, (size_t)node->setting[ALPHABET], h);
    return c;
}

static double compare_k_mers(const common *c, const char *x, const char *y)
{
    size_t h = 0;
    for (size_t i = 0; i < c->k && h <= c->most; i++) h += x[i] != y[i];
    return h <= c->most ? c->by[h] : 0;
}

/* Pieces u of a with their neighbours among those of b, in two passes: counted, then written. */
typedef struct neighbour_work {
    const cri_job    *job;
    const cri_pieces *p, *q;
    common            common;
    cri_links        *links;
    bool              write;
} neighbour_work;

enum { PIECES = 64 };

static void find_neighbours(void *arg, size_t block)
{
    const neighbour_work *w = arg;
    cri_range             r = cri_block_range(w->p->n, PIECES, block);
    for (size_t u = r.begin; u < r.end; u++) {
        size_t n = w->write ? w->links->begin[u] : 0;
        for (size_t v = 0; v < w->q->n; v++) {
            double weight = compare_k_mers(&w->common, w->p->piece[u].at, w->q->piece[v].at);
            if (weight == 0) continue;
            if (w->write) w->links->to[n] = v, w->links->weight[n] = weight;
            n++;
        }
        if (!w->write) w->links->begin[u + 1] = n;
    }
}

static cr_status mismatch_join(cr_scratch *s, const cri_job *job, size_t node, cri_texts *a,
                               const cri_texts *b)
{
    cr_status      st = CR_OK;
    neighbour_work w = {
        .job = job, .p = a->ready, .q = b->ready, .common = common_of(&job->k->nodes[node])
    };
    w.links = cr_scratch_bytes(s, 1, sizeof *w.links);
    CR_TRY(s->status);
    w.links->begin = cr_scratch_index(s, w.p->n + 1);
    CR_TRY(s->status);
    w.links->begin[0] = 0;
    CR_TRY(cri_parallel_for(s->cx, NULL, cri_block_count(w.p->n, PIECES), find_neighbours, &w));
    for (size_t u = 0; u < w.p->n; u++) w.links->begin[u + 1] += w.links->begin[u];
    w.links->to = cr_scratch_index(s, w.links->begin[w.p->n]);
    w.links->weight = cr_scratch_f64(s, w.links->begin[w.p->n]);
    CR_TRY(s->status);
    w.write = true;
    CR_TRY(cri_parallel_for(s->cx, NULL, cri_block_count(w.p->n, PIECES), find_neighbours, &w));
    a->links = w.links;
done:
    return st;
}

static cri_slope mismatch_own(const cri_job *job, size_t node, const cri_texts *t, size_t i,
                              double *workspace)
{
    const cri_pieces *p = t->ready;
    common            c = common_of(&job->k->nodes[node]);
    double            sum = 0;
    (void)workspace;
    for (size_t e = p->begin[i]; e < p->begin[i + 1]; e++)
        for (size_t f = p->begin[i]; f < p->begin[i + 1]; f++)
            sum += p->count[e] * p->count[f] *
                   compare_k_mers(&c, p->piece[p->id[e]].at, p->piece[p->id[f]].at);
    return (cri_slope){ sum, 0 };
}

static const cri_text_kernel mismatch = { .read = read_k_mers,
                                          .join = mismatch_join,
                                          .workspace = cri_pieces_workspace_size,
                                          .row = cri_pieces_row,
                                          .own = mismatch_own,
                                          .normalised = normalised };

static const cri_spec mismatch_specs[] = {
    K_SPEC("length of the substrings"),
    NORMALISE_SPEC,
    CRI_GIVEN("m", NULL, "1", "0..50", "changes allowed in a substring", 1, 0, 50, false),
    CRI_GIVEN("alphabet", NULL, "4", "2..256", "number of different letters", 4, 2, 256, false),
    CRI_LAST_SPEC,
};

const cr_kernel_class cri_kernel_mismatch = {
    .name = "mismatch",
    .summary = "text: substrings of k characters that match up to m changes",
    .formula = "k(x, y) = sum over strings u of length k of n_x(u) n_y(u),\n"
               "n_x(u) = number of substrings of x that differ from u in at most m places",
    .reference = "Leslie, Eskin, Cohen, Weston & Noble (2004), Bioinformatics 20(4)",
    .example = "mismatch(dna; k=4, m=1, alphabet=4)",
    .specs = mismatch_specs,
    CRI_TEXT_CLASS(&mismatch),
};
