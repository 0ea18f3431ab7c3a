/* degree.c -- the weighted-degree kernel of texts: pieces of 1 to k bytes that stand at the same
 * place in both.
 *     k(x, y) = sum_{d=1}^k b_d sum_i [x_i .. x_{i+d-1} = y_i .. y_{i+d-1}],
 *     b_d = 2 (k - d + 1) / (k (k + 1)),  which add up to 1.
 * A run of L equal bytes holds L - d + 1 pieces of d bytes, so a pair takes one pass over the
 * shorter text and a look at a table of runs.  With the weights times k (k + 1) / 2 all sums are of
 * whole numbers and exact below 2^53.
 * Raetsch & Sonnenburg (2004), Accurate splice site detection for C. elegans. */
#include "texts.h"

#include <string.h>

enum { K = 0, NORMALISE = 1, MOST_K = 50 };

static bool normalised(const cri_node *node) { return node->setting[NORMALISE] != 0; }

/* What a run of a length counts, in units of 2 / (k (k + 1)). */
typedef struct runs {
    size_t k;
    double of[MOST_K + 1]; /* runs of at most k bytes */
    double step;           /* each byte beyond k adds a piece of every length */
} runs;

static runs make_runs(const cri_node *node)
{
    runs r = { .k = (size_t)node->setting[K] };
    for (size_t length = 1; length <= r.k; length++)
        for (size_t d = 1; d <= length; d++)
            r.of[length] += (double)(r.k - d + 1) * (double)(length - d + 1);
    r.step = 0.5 * (double)r.k * (double)(r.k + 1);
    return r;
}

static double count_run(const runs *r, size_t length)
{
    return length <= r->k ? r->of[length] : r->of[r->k] + r->step * (double)(length - r->k);
}

static double compare(const runs *r, const char *x, const char *y)
{
    double sum = 0;
    for (size_t i = 0; x[i] && y[i];) {
        size_t begin = i;
        while (x[i] && x[i] == y[i]) i++;
        sum += count_run(r, i - begin);
        while (x[i] && y[i] && x[i] != y[i]) i++;
    }
    return sum / r->step;
}

static size_t degree_workspace_size(const cri_job *job, size_t node, const cri_texts *a,
                                    const cri_texts *b)
{
    (void)job, (void)node, (void)a, (void)b;
    return 1; /* none is needed */
}

static void degree_row(const cri_job *job, size_t node, const cri_texts *a, const cri_texts *b,
                       size_t i, const size_t *j, size_t n, double *workspace, double *values,
                       double *slopes)
{
    runs r = make_runs(&job->k->nodes[node]);
    (void)workspace;
    for (size_t q = 0; q < n; q++) values[q] = compare(&r, a->text[i], b->text[j[q]]);
    if (slopes) memset(slopes, 0, n * sizeof *slopes);
}

static cri_slope degree_own(const cri_job *job, size_t node, const cri_texts *t, size_t i,
                            double *workspace)
{
    runs r = make_runs(&job->k->nodes[node]);
    (void)workspace;
    return (cri_slope){ count_run(&r, strlen(t->text[i])) / r.step, 0 };
}

static const cri_text_kernel degree = { .workspace = degree_workspace_size,
                                        .row = degree_row,
                                        .own = degree_own,
                                        .normalised = normalised };

static const cri_spec degree_specs[] = {
    CRI_GIVEN("k", NULL, "3", "1..50", "length of the longest substrings", 3, 1, MOST_K, false),
    CRI_GIVEN("normalise", "normalize", "0", "0..1", "1: divide by sqrt(k(x,x) k(y,y))", 0, 0, 1,
              false),
    CRI_LAST_SPEC,
};

const cr_kernel_class cri_kernel_weighted_degree = {
    .name = "weighted_degree",
    .aliases = "wd",
    .summary = "text: shared substrings of up to k characters at the same position",
    .formula = "k(x, y) = sum_d b_d #{i: x_i .. x_(i+d-1) = y_i .. y_(i+d-1)},  d = 1 .. k,\n"
               "b_d = 2 (k - d + 1) / (k (k + 1))\n"
               "Characters are bytes; positions are counted from the beginning.",
    .reference = "Raetsch & Sonnenburg (2004), Accurate splice site detection for C. elegans",
    .example = "weighted_degree(dna; k=5)",
    .specs = degree_specs,
    CRI_TEXT_CLASS(&degree),
};
