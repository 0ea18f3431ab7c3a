/* kalman_system.h -- a linear Gaussian state space model, its filter, its smoother and its score.
 *   y_t     = Z_t a_t + e_t,  e_t ~ N(0, diag h)         y_t [p], any of it missing (NaN)
 *   a_{t+1} = T a_t + n_t,    n_t ~ N(0, Q)              a_t [m], Q singular where it likes
 *   a_1     ~ N(start, P1 + kappa diag(diffuse)),  kappa -> infinity
 * The last k states are coefficients of regressors: their Z is the row x_t.  Observations are taken in one
 * by one (univariate treatment), so a step costs O(p m^2 + m s) for s entries of T that are not 0.
 *
 * The exact diffuse start (Koopman 1997; Durbin & Koopman 2012, ch. 5-7) carries P = P* + kappa P_inf: an
 * observation with z' P_inf z > 0 fixes one direction of the unknown start.  The diffuse log likelihood is
 *   - 1/2 sum (log 2 pi + log F + v^2/F)  - 1/2 sum log F_inf,
 * the first sum over the observations that fix no direction, the second over those that do.
 *
 * Rows may be further apart than a step, or closer: then data->step says by which of system->steps a row is reached
 * (kalman_steps.h).
 *
 * Several series stand behind each other in the rows: each starts anew, except in the states that are
 * `shared`, which go on.  Once the variances have settled they are no longer computed: a step is O(s + m) then.
 * (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_KALMAN_SYSTEM_H
#define CREDENCE_MODELS_SEQUENCE_KALMAN_SYSTEM_H

#include "base/scratch.h"

/* The entries of a matrix [m x m] that are not 0: row i has those row[i] .. row[i + 1] - 1. */
typedef struct cri_kalman_entries {
    size_t *row, *column;
    double *entry;
} cri_kalman_entries;

/* How the states reach a row that lies `gap` steps behind the last: T and Q of the gap. */
typedef struct cri_kalman_step {
    double             gap;
    cri_kalman_entries forward, backward;
    double            *Q; /* [m x m] */
} cri_kalman_step;

typedef struct cri_kalman_system {
    size_t             m, p, k;    /* states, observed at a time, regressors                    */
    double            *T, *Q;      /* [m x m]                                                   */
    double            *Z;          /* [p x m]; 0 where the state belongs to a regressor         */
    double            *h;          /* [p] >= 0                                                  */
    double            *start, *P1; /* [m], [m x m]                                              */
    bool              *diffuse;    /* [m]                                                       */
    const double      *unknown;    /* [m x m] P_inf to start with in their place; NULL: none      */
    bool              *shared;     /* [m] goes on from series to series                         */
    bool              *noisy;      /* [m] Q may have entries there: what the score looks at      */
    cri_kalman_entries forward, backward; /* T and T', by cri_kalman_pack                 */
    size_t             n_steps;        /* gaps between rows that there are                       */
    cri_kalman_step   *steps;          /* [n_steps]; NULL: all rows are a step apart             */
    double            *steps_work;     /* of cri_kalman_steps_new                                */
    struct cri_kalman_system *opt_one; /* one column alone, where a plan has several           */
} cri_kalman_system;

/* Room for one in the caller's arena, all 0.  The regressors are states already. */
cr_status cri_kalman_new(cr_scratch *s, size_t m, size_t p, size_t k, cri_kalman_system *out);
/* Lists the entries of T, which is set: needed before all that follows. */
void cri_kalman_pack(cri_kalman_system *system);
/* P1 of the states first .. first + n - 1 as it is in the long run, P1 = T P1 T' + Q, with T and Q of these alone; by
 * doubling.  work [3 n n].  false where it does not settle. */
bool cri_kalman_settle(const double *T, const double *Q, size_t n, double *P, double *work);

/* What is observed: series i is the rows start[i] .. start[i + 1] - 1. */
typedef struct cri_kalman_data {
    size_t        n, series;
    const size_t *start; /* [series + 1]              */
    const double *y;     /* [n x p] NaN where missing */
    const double *x;     /* [n x k]; NULL where k = 0 */
    const size_t *
        step; /* [n] the step by which a row is reached, also the first of a series, which starts at
                          * that row itself by CRI_KALMAN_HERE; NULL: all by T and Q, the first here */
    const double *time; /* [n] of rows that have a step */
} cri_kalman_data;

#define CRI_KALMAN_HERE SIZE_MAX

/* The matrices by which row t > 0 is reached from the row before. */
static inline cri_kalman_step cri_kalman_step_into(const cri_kalman_system *s,
                                                   const cri_kalman_data *data, size_t t)
{
    if (data->step) return s->steps[data->step[t]];
    return (cri_kalman_step){ 1, s->forward, s->backward, s->Q };
}

/* How an observation was used. */
typedef enum cri_kalman_use {
    CRI_KALMAN_MISSING,
    CRI_KALMAN_REGULAR,
    CRI_KALMAN_FIXES
} cri_kalman_use;

/* What the filter went through.  Rows whose variances are the same share a slot. */
typedef struct cri_kalman_path {
    const cri_kalman_system *system;
    const cri_kalman_data   *data;
    double  log_likelihood;   /* diffuse, as above; NaN where an observation has variance 0    */
    double  squares;          /* sum v^2/F of the observations that fix nothing                */
    size_t  observed, fixing; /* observations, and those of them that fix a direction          */
    size_t  failed;           /* the row whose observation has variance 0; SIZE_MAX: none      */
    bool    states;           /* a, and P and P_inf of the slots, are there                    */
    double *mean;             /* [n x p] of y given the rows before                            */
    size_t *slot;             /* [n]                                                           */
    double *slots;            /* [n_slots x width]                                             */
    size_t  width, n_slots, room;
    double *unknown; /* [n_unknown x m x m] P_inf after the rows that have one; with states    */
    size_t  n_unknown, unknown_room;
    double *a;   /* [n x m] after the observations of the row; with states                     */
    double *end; /* a step beyond the last row, or, with data->step, behind it: a [m], P, P_inf  */
} cri_kalman_path;

/* The variances of a row: pointers into its slot. */
typedef struct cri_kalman_slot {
    double *F, *Finf; /* [p] variance of y given the rows before                               */
    double *K;        /* [p x m] the gains of those that were used                             */
    double *K1;       /* [p x m] of those that fix a direction, the gain of order 1/kappa       */
    double *use;      /* [p] cri_kalman_use                                                    */
    double *which;    /* 1 + the number of its P_inf; 0: there is none                         */
    double *P;        /* [m x m] after the observations of the row; with states                */
} cri_kalman_slot;

static inline cri_kalman_slot cri_kalman_slot_at(const cri_kalman_path *path, size_t i)
{
    size_t  m = path->system->m, p = path->system->p;
    double *from = path->slots + i * path->width;
    return (cri_kalman_slot){ from,
                              from + p,
                              from + 2 * p,
                              from + (2 + m) * p,
                              from + (2 + 2 * m) * p,
                              from + (3 + 2 * m) * p,
                              from + (3 + 2 * m) * p + 1 };
}

/* After how many rows to look whether to stop: some milliseconds of work. */
static inline size_t cri_kalman_poll(const cri_kalman_system *system)
{
    return 1 + 1000000 / (system->m * system->m);
}

/* Filters; the path is freed by cri_kalman_path_free, also after a failure.  Polls interrupts. */
cr_status cri_kalman_filter(cr_ctx *cx, const cri_kalman_system *system,
                            const cri_kalman_data *data, bool states, cri_kalman_path *out);
void      cri_kalman_path_free(cr_ctx *cx, cri_kalman_path *path);

/* The gradient of the log likelihood.  Where P_inf does not depend on what is differentiated, which holds for
 * all but T and Z of diffuse states, these are exact. */
typedef struct cri_kalman_score {
    double *h;     /* [p]                                                                    */
    double *Q;     /* [m x m] d l / d Q_ij, both triangles as if they were free              */
    double *T;     /* [m x m]; needs a path with states; NULL: not wanted                    */
    double *P1;    /* [m x m] likewise Q                                                     */
    double *start; /* [m]                                                                    */
    double *level; /* [p] by a constant added to the mean of y                               */
    double *steps_Q,
        *steps_T; /* [n_steps x m x m] of the steps, in place of Q and T; of data with steps */
} cri_kalman_score;
cr_status cri_kalman_differentiate(cr_ctx *cx, const cri_kalman_path *path, cri_kalman_score *out);

/* A row as the backward pass of the smoother finds it. */
typedef struct cri_kalman_row {
    const cri_kalman_path *path;
    size_t                 t;
    const double          *a;        /* [m] the states given all rows                             */
    const double          *P, *Pinf; /* after the row; Pinf NULL where the start is known by then */
    const double          *N0, *N1, *N2;
    const double          *r;     /* [m] of the states of this row, before its observations    */
    const double          *N;     /* [m x m] its covariance                                    */
    const double          *u, *D; /* [p] E(e_t | y) / h and its variance; NaN where missing    */
    double                *work;  /* [2 m]                                                     */
} cri_kalman_row;
typedef void cri_kalman_visit(void *arg, const cri_kalman_row *row);

/* Visits all rows, the last one first.  The path has states. */
cr_status cri_kalman_smooth(cr_ctx *cx, const cri_kalman_path *path, cri_kalman_visit *visit,
                            void *arg);
/* The covariance of w'a and q'a given all rows; infinite where w = q is of a direction that the data do not determine. */
double cri_kalman_covariance(const cri_kalman_row *row, const double *w, const double *q);
/* The row of Z at row t: out [m]. */
void cri_kalman_loadings(const cri_kalman_system *system, const cri_kalman_data *data, size_t t,
                         size_t i, double *out);
/* The entries of A [m x m], or of A', that are not 0.  out [m x m] = A P. */
void cri_kalman_list(const double *A, size_t m, bool transposed, cri_kalman_entries *out);
void cri_kalman_apply(const cri_kalman_entries *A, size_t m, const double *P, double *out);
/* P becomes A P A' + opt_Q, P symmetric or, `lopsided`, not; work [m x m].  a becomes A a; work [m]. */
void cri_kalman_carry(const cri_kalman_entries *A, size_t m, double *P, const double *opt_Q,
                      bool lopsided, double *work);
void cri_kalman_move(const cri_kalman_entries *A, size_t m, double *a, double *work);

#endif
