/* kmeans.h -- k-means: the state, and the parts of a fit.
 *   minimise  sum_i w_i |x_i - c_{a_i}|^2   over centres c_1 .. c_k and clusters a_i
 * 1  rows      kmeans_rows.c     distinct rows in a canonical order (kmeans_order.c), scaled and centred
 * 2  start     kmeans_start.c    centres to begin with
 * 3  steps     kmeans_lloyd.c    Lloyd's steps, with bounds that skip distances
 * 4  polish    kmeans_polish.c   single moves (Hartigan)
 * 5  swaps     kmeans_swap.c     of centres for rows elsewhere
 * 6  search    kmeans_search.c   starts, and the best of their ends
 * 7  stream    kmeans_stream.c   steps over rows that are not kept
 * 8  scores    kmeans_scores.c   Calinski-Harabasz and silhouette
 * Notation: n rows, p terms, k clusters; X [n x p], C [k x p].  (Internal header.) */
#ifndef CREDENCE_MODELS_LATENT_KMEANS_H
#define CREDENCE_MODELS_LATENT_KMEANS_H

#include "models/common/coordinates.h"
#include "models/core/class.h"

#include <math.h>
#include <stdint.h>

/* clang-format off */
#define CRI_KMEANS(MEMBER)                                                                         \
    MEMBER(count,  k,                (),           ">0",        "clusters")                        \
    MEMBER(count,  p,                (),           "",          "terms")                           \
    MEMBER(vector, shift,            (p),          "",          "means of the terms")              \
    MEMBER(vector, scale,            (p),          ">0",        "what they are divided by")        \
    MEMBER(matrix, centre,           (k, p),       "",          "of each cluster, as scaled")      \
    MEMBER(matrix, sd,               (k, p),       ">=0 any",   "of these; infinite: not known")   \
    MEMBER(vector, size,             (k),          ">=0",       "weight of the rows of each")      \
    MEMBER(real,   inertia,          (),           ">=0",       "sum of squared distances")        \
    MEMBER(real,   total,            (),           ">=0",       "the same of one cluster")         \
    MEMBER(count,  restarts,         (),           ">=1",       "starts that were made")           \
    MEMBER(count,  restarts_agreed,  (),           ">=1",       "of these, how many ended so low") \
    MEMBER(count,  iterations,       (),           "",          "steps of the start that was kept") \
    MEMBER(flag,   converged,        (),           "",          "the last step changed nothing")   \
    MEMBER(vector, trace,            (iterations), ">=0 full",  "the inertia after every step")    \
    MEMBER(real,   calinski_harabasz,(),           "none endless", "on request")                   \
    MEMBER(real,   silhouette,       (),           "none",      "on request")                      \
    MEMBER(count,  tried,            (),           "",          "numbers of clusters tried")       \
    MEMBER(index,  tried_k,          (tried),      "full",      "these")                           \
    MEMBER(vector, tried_inertia,    (tried),      ">=0 full",  "inertia of each")                 \
    MEMBER(vector, tried_score,      (tried),      "any full",  "what chose among them")           \
    MEMBER(vector, tried_agreed,     (tried),      "full",      "starts that ended so low")        \
    MEMBER(choice, choose,           (), "calinski-harabasz|silhouette", "the score that chose")
/* clang-format on */

CRI_RECORD(cri_kmeans, CRI_KMEANS, cri_coordinates at;);

/* --- 1 rows ----------------------------------------------------------------------------------- */

/* The distinct rows that have any weight, in the order of their values, so that neither the order of the rows nor
 * how often one is repeated makes a difference: scaled, and with mean 0. */
typedef struct cri_kmeans_rows {
    size_t  n, p;
    size_t  room, capacity;        /* numbers that X and w have room for */
    double *X;                     /* [n x p]                     */
    double *w;                     /* [n] the weight of all alike */
    double *norm;                  /* [n] |x|^2                   */
    double *shift, *scale;         /* [p]                        */
    double  weight, total;         /* sum w, sum w |x|^2 */
    bool    sampled;               /* they are some of a stream, */
    double  all_weight, all_total; /* of which all have this */
} cri_kmeans_rows;

/* All rows, of a stream too; where that has more than are kept, a sample of them, with the scale of all.  Fails with
 * CR_ENUMERIC where squares overflow. */
cr_status cri_kmeans_rows_open(cr_ctx *cx, const cri_rows *rows, bool standardise, uint64_t seed,
                               cri_kmeans_rows *out);
void      cri_kmeans_rows_close(cr_ctx *cx, cri_kmeans_rows *d);
/* The rows X with weights w in the order of their values, rows that are alike as one. */
cr_status cri_kmeans_put_in_order(cr_ctx *cx, cri_kmeans_rows *d);

/* --- 3 steps ---------------------------------------------------------------------------------- */

/* Where a search stands.  Each row has its cluster a, an upper bound u of the distance to its centre, and a lower
 * bound l of that to any other. */
typedef struct cri_kmeans_work {
    const cri_kmeans_rows *d;
    size_t                 k;
    double                *C;           /* [k x p] centres                             */
    double                *sum;         /* [k x p] sum w x of their rows               */
    double                *size;        /* [k] sum w                                   */
    double                *count;       /* [k] rows                                    */
    uint32_t              *a;           /* [n] cluster of each row                     */
    double                *u, *l;       /* [n] bounds                                  */
    double                *norm, *half; /* [k] |c|^2; half the way to the next centre  */
    double                *drift;       /* [k] how far the last step moved each        */
    double                 inertia;
    double                *trace; /* [capacity], of which `iterations` are there */
    size_t                 iterations, capacity;
    size_t                 passes; /* over the rows: also those of tries that were taken back */
    bool                   converged;
} cri_kmeans_work;

cr_status cri_kmeans_work_open(cr_ctx *cx, const cri_kmeans_rows *d, size_t k,
                               cri_kmeans_work *out);
void      cri_kmeans_work_close(cr_ctx *cx, cri_kmeans_work *w);

/* What ends the steps. */
typedef struct cri_kmeans_limits {
    double                  tol;
    size_t                  max_iter;
    const struct cri_clock *clock;
    double aim; /* the steps are of no use unless they end below this; 0: no matter */
} cri_kmeans_limits;

/* Begins with the centres C: no row has a cluster, no step was taken. */
void cri_kmeans_begin(cri_kmeans_work *w);
/* No row has a cluster any more. */
void cri_kmeans_forget(cri_kmeans_work *w);
/* Steps until no row changes its cluster, a step lowers the inertia by no more than the share tol, or a limit is met.
 * The inertia never rises. */
cr_status cri_kmeans_descend(cr_ctx *cx, cri_kmeans_work *w, const cri_kmeans_limits *limits);
/* Adds the inertia to the trace. */
cr_status cri_kmeans_note_step(cr_ctx *cx, cri_kmeans_work *w);
/* Moves row i to cluster b, with the sums of both; the centres stay where they are. */
void cri_kmeans_move(cri_kmeans_work *w, size_t i, size_t b);
/* sums, sizes, centres and inertia from the clusters of the rows alone. */
cr_status cri_kmeans_resum(cr_ctx *cx, cri_kmeans_work *w);

/* |x - c|^2 by differences; in four sums, which do not wait for each other. */
static inline double cri_kmeans_square(const double *x, const double *c, size_t p)
{
    double sum[4] = { 0 };
    size_t j = 0;
    for (; j + 4 <= p; j += 4)
        for (size_t l = 0; l < 4; l++) sum[l] += (x[j + l] - c[j + l]) * (x[j + l] - c[j + l]);
    for (; j < p; j++) sum[0] += (x[j] - c[j]) * (x[j] - c[j]);
    return sum[0] + sum[1] + (sum[2] + sum[3]);
}

/* --- 2 start ---------------------------------------------------------------------------------- */

typedef struct cri_kmeans_settings {
    size_t            restarts;
    bool              random, polish;
    const double     *opt_C; /* [k x p] given centres: the one start */
    uint64_t          seed;
    cri_kmeans_limits limits;
} cri_kmeans_settings;

/* Centres by k-means++, each the best of some trials (greedy), and for many rows by steps on a sample of them; or k
 * rows drawn as they weigh.  k <= d->n. */
cr_status cri_kmeans_start(cr_ctx *cx, cri_kmeans_work *w, const cri_kmeans_settings *s,
                           cr_rng *rng);
/* Rows of which a start takes a sample. */
bool cri_kmeans_has_many(const cri_kmeans_work *w);
/* A row by its share of the sum of w_i u_i; left [blocks] has the sums of blocks of `block` rows. */
size_t cri_kmeans_draw_far(const cri_kmeans_work *w, const double *left, size_t block, cr_rng *rng);
/* The rows of a CSV file as centres, in the units of the rows of d. */
cr_status cri_kmeans_read_centres(cr_ctx *cx, const char *path, const cr_design *design,
                                  const cri_kmeans_rows *d, double **out_C, size_t *out_k);

/* --- 4 polish, 5 swaps ------------------------------------------------------------------------ */

/* Moves of single rows that lower the inertia, and steps after them, until none is left. */
cr_status cri_kmeans_polish(cr_ctx *cx, cri_kmeans_work *w, const cri_kmeans_limits *limits);
/* Swaps of centres for rows that lower the inertia, *out_made of some that are tried; or one that need not (forced).
 * Rows have no clusters afterwards. */
cr_status cri_kmeans_swap(cr_ctx *cx, cri_kmeans_work *w, const cri_kmeans_limits *limits,
                          bool forced, cr_rng *rng, size_t *out_made);

/* --- 6 search --------------------------------------------------------------------------------- */

/* One start, to its end. */
cr_status cri_kmeans_run(cr_ctx *cx, cri_kmeans_work *w, const cri_kmeans_settings *s, cr_rng *rng);

/* How a search ended. */
typedef struct cri_kmeans_end {
    size_t made, agreed;
    bool   cut; /* by the time limit */
} cri_kmeans_end;

/* The best of all starts, in w. */
cr_status cri_kmeans_search(cr_ctx *cx, cri_kmeans_work *w, const cri_kmeans_settings *s,
                            cri_kmeans_end *out);

/* --- 7 stream --------------------------------------------------------------------------------- */

/* The nearest centre of t, a row as scaled, and how far that is, squared; the first of equal ones. */
static inline size_t cri_kmeans_nearest(const cri_kmeans *m, const double *t, double *out_square)
{
    size_t best = 0;
    *out_square = INFINITY;
    for (size_t c = 0; c < m->k; c++) {
        double square = cri_kmeans_square(t, m->centre + c * m->p, m->p);
        if (square < *out_square) *out_square = square, best = c;
    }
    return best;
}

/* Steps of the centres of m, which come from a sample, over all rows of a stream: sets centres, sds, sizes, inertia and
 * trace.  *out_cut: the clock ended them. */
cr_status cri_kmeans_pass_stream(cr_ctx *cx, const cri_rows *rows, const cri_kmeans_limits *limits,
                                 cri_kmeans *m, bool *out_cut);

/* --- 8 scores --------------------------------------------------------------------------------- */

/* order [k] = the largest cluster, the second, ...; of equal ones the first by its centre. */
void cri_kmeans_order(size_t k, size_t p, const double *size, const double *C, size_t *order);

/* (B / (k - 1)) / (inertia / (n - k)), B = total - inertia; NaN for k = 1 and k >= n, infinite for an inertia of 0. */
double cri_kmeans_calinski_harabasz(const cri_kmeans_work *w);
/* The mean over rows of (b - a) / max(a, b): a is the mean distance to the other rows of the cluster, b that to the
 * rows of the nearest other one; 0 for a row alone.  NaN for k = 1, and where
 * the clock ended it.  O(n^2 p). */
cr_status cri_kmeans_silhouette(cr_ctx *cx, const cri_kmeans_work *w, const struct cri_clock *clock,
                                double *out);

#endif
