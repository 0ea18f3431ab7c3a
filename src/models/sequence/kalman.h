/* kalman.h -- the state of a fitted model of class kalman, and what its files share.
 * Numbers are those of the scaled series y' = (y - shift) / scale, unless said otherwise.  (Internal header.) */
#ifndef CREDENCE_MODELS_SEQUENCE_KALMAN_H
#define CREDENCE_MODELS_SEQUENCE_KALMAN_H

#include "kalman_parts.h"
#include "models/core/class.h"

#include <math.h>

/* clang-format off */
#define KALMAN_STATE(MEMBER)                                                                           \
    MEMBER(text,   components, (),  "none",     "the parts; absent of a model given by its matrices")  \
    MEMBER(count,  k,          (),  "",         "regressors")                                          \
    MEMBER(count,  m,          (),  ">0",       "states")                                              \
    MEMBER(count,  n_theta,    (),  "",         "parameters")                                          \
    MEMBER(count,  series,     (),  ">0",       "series of the fit")                                   \
    MEMBER(count,  width,      (),  ">0",       "numbers of a place: 1 + m + 2 m m, and a time; then likewise of each setting") \
    MEMBER(real,   longest,    (),  ">=4",      "the longest period of a cycle")                       \
    MEMBER(real,   shift,      (),  "",         "of the series")                                       \
    MEMBER(real,   scale,      (),  ">0",       "of the series")                                       \
    MEMBER(vector, centre,     (k), "none",     "of the regressors")                                   \
    MEMBER(vector, spread,     (k), ">0 none",  "of the regressors")                                   \
    MEMBER(vector, theta,      (n_theta), "any none", "parameters as they were searched for")          \
    MEMBER(matrix, covariance, (n_theta, n_theta), "any none", "of theta")                             \
    MEMBER(vector, coefficient, (k), "any none", "of regressors")                                      \
    MEMBER(vector, coefficient_sd, (k), "any none", "their standard deviations")                       \
    MEMBER(matrix, places,     (series, width), "", "where the series of the fit end")                 \
    MEMBER(text,   names,      (),  "none",     "of the series, each ended by a line feed")            \
    MEMBER(matrix, T,          (m, m), "none",  "of a model given by its matrices, as the next four")  \
    MEMBER(matrix, Q,          (m, m), "none",  "")                                                    \
    MEMBER(vector, Z,          (m), "none",     "")                                                    \
    MEMBER(vector, start,      (m), "none",     "mean of the first state")                             \
    MEMBER(matrix, P1,         (m, m), "none",  "covariance of the first state")                       \
    MEMBER(vector, diffuse,    (m), "0..1 none", "1 where a state starts unknown")                     \
    MEMBER(real,   h,          (),  ">=0 none", "variance of the noise of the observations")           \
    MEMBER(count,  observed,   (),  "",         "rows with a value")                                   \
    MEMBER(count,  fixing,     (),  "",         "of these, used up by the unknown start")              \
    MEMBER(count,  starts,     (),  "",         "runs of the search")                                  \
    MEMBER(count,  agreed,     (),  "",         "of these, ended at the best")                         \
    MEMBER(real,   log_likelihood, (), "any none", "diffuse, in the units of rows->y")                 \
    MEMBER(real,   gradient,   (),  "any none", "largest entry by theta at the end")                   \
    MEMBER(real,   ljung_box,  (),  "any none", "of the standardised one-step errors")                 \
    MEMBER(count,  lags,       (),  "",         "that it looks at")                                    \
    MEMBER(real,   outlier,    (),  "any none", "largest auxiliary residual of an observation")        \
    MEMBER(count,  outlier_row, (), "",         "its row of the data, from 1")                         \
    MEMBER(real,   shock,      (),  "any none", "largest auxiliary residual of a state")               \
    MEMBER(count,  shock_row,  (),  "",         "the row of the data before which it comes")           \
    MEMBER(count,  shock_part, (),  "",         "the number of its state")                             \
    MEMBER(count,  steps,      (),  "0..2 spare", "what a step is: a row, a unit of --time, a month")  \
    MEMBER(count,  between,    (),  "0..1 spare", "rows lie between whole steps")                      \
    MEMBER(real,   unit,       (),  ">=0 spare", "a step, in units of --time or months")               \
    MEMBER(real,   span,       (),  ">=0 spare", "steps of the longest series")                        \
    MEMBER(count,  settings,   (),  "spare",    "of the parameters, that answers are averaged over; 0: theta alone") \
    MEMBER(real,   dof,        (),  ">=0 spare", "of Student's t, given a setting")                    \
    MEMBER(matrix, setting,    (settings, n_theta), "none", "as theta")                                \
    MEMBER(vector, share,      (settings), ">0 none", "of each in the average")                        \
    MEMBER(count,  beside,     (),  "spare",    "columns that are observed beside the target")         \
    MEMBER(count,  noise,      (),  "spare",    "the last states, if they are the noise of the columns") \
    MEMBER(text,   columns,    (),  "none",     "their names, each ended by a line feed")              \
    MEMBER(vector, beside_shift, (beside), "none", "of these columns")                                 \
    MEMBER(vector, beside_scale, (beside), ">0 none", "of these columns")                              \
    MEMBER(matrix, beside_Z,   (beside, m), "none", "theirs, of a model given by its matrices")        \
    MEMBER(vector, beside_h,   (beside), ">=0 none", "likewise")                                       \
    MEMBER(count,  outlier_column, (), "spare", "in which it is: 0 is the target")
/* clang-format on */

CRI_RECORD(kalman_state, KALMAN_STATE, cri_kalman_plan *plan; const char **labels;
           const char **others;);
extern const cri_member cri_kalman_record[];

enum { CRI_KALMAN_STEPS_ROWS, CRI_KALMAN_STEPS_TIME, CRI_KALMAN_STEPS_MONTHS };

/* The plan and the labels of the series from what a file has; CR_EDATA where they do not fit together. */
cr_status cri_kalman_prepare(cr_ctx *cx, kalman_state *state);
void      cri_kalman_unprepare(cr_ctx *cx, kalman_state *state);

/* A list of the n lines of a text, which points into a copy of it and is freed with the state; no list of no text, and none
 * anew. */
cr_status cri_kalman_split_lines(cr_ctx *cx, const char *opt_text, size_t n, const char ***out);

/* The matrices of a state in the caller's arena, and the mean that is taken off the series first. */
cr_status cri_kalman_open(cr_scratch *s, const kalman_state *state, cri_kalman_system *out);
double    cri_kalman_mean(const kalman_state *state);
/* The system starts from a place [width], which stays the caller's, or from `base`, as it was opened, where nothing was
 * seen yet. */
void cri_kalman_start(const kalman_state *state, const cri_kalman_system *base, double *place,
                      cri_kalman_system *out);
/* --- columns: number 0 is the target, the others are those beside it (kalman_columns.c) ------- */

/* Takes the names of those beside it from a list. */
cr_status cri_kalman_name_columns(cr_ctx *cx, const cr_design *design, const char *list,
                                  kalman_state *state);
/* Column c at the rows, in the units of the data: out [rows], NaN where it is missing. */
cr_status cri_kalman_values_of(cr_ctx *cx, const cri_rows *rows, const kalman_state *state,
                               size_t c, double *out);
static inline double cri_kalman_shift_of(const kalman_state *m, size_t c)
{
    return c == 0 ? m->shift : m->beside_shift[c - 1];
}
static inline double cri_kalman_scale_of(const kalman_state *m, size_t c)
{
    return c == 0 ? m->scale : m->beside_scale[c - 1];
}
static inline const char *cri_kalman_column(const kalman_state *m, const cr_design *d, size_t c)
{
    return c == 0 ? cr_design_target(d) : m->others[c - 1];
}
/* As cri_kalman_loadings, without the states that are noise: out [m].  The variance of the noise.  Whether the target is
 * missing in row t, and its noise one of the states, of which the other columns of the row say something: its value is then a
 * sum of states. */
void   cri_kalman_signal(const kalman_state *state, const cri_kalman_system *system,
                         const cri_kalman_data *data, size_t t, size_t c, double *out);
double cri_kalman_noise(const kalman_state *state, const cri_kalman_system *system, size_t c);
static inline bool cri_kalman_is_gap(const kalman_state *m, const cri_kalman_data *data, size_t t)
{
    return m->noise > 0 && isnan(data->y[t * (m->beside + 1)]);
}
/* What the log likelihood of a path has to lose for the units of the data: the sum of the log scales of its densities. */
double cri_kalman_log_units(const kalman_state *state, const cri_kalman_path *path);

/* The name of a parameter. */
void cri_kalman_parameter(const kalman_state *state, const cr_design *design, size_t i, char *out,
                          size_t size);
/* A place is the number of rows seen, then mean, P and P_inf of the states a step behind the last row, or, where rows
 * have times, at that row, and its time.  Behind that of theta stand those of the settings. */
static inline size_t cri_kalman_width(const kalman_state *m)
{
    return 1 + m->m + 2 * m->m * m->m + (m->steps != CRI_KALMAN_STEPS_ROWS ? 1 : 0);
}

/* --- settings --------------------------------------------------------------------------------- */

/* The model at setting number h, counted from 1, or at theta, 0: without settings, with places of its own and coefficients
 * that nobody reads, in the caller's arena. */
cr_status cri_kalman_view(cr_scratch *s, const kalman_state *state, size_t h, kalman_state *out);
/* The part of setting h in places [n x state->width]: out [n x cri_kalman_width], and back. */
void cri_kalman_take_places(const kalman_state *state, size_t h, const double *places, size_t n,
                            double *out);
void cri_kalman_put_places(const kalman_state *state, size_t h, const double *own, size_t n,
                           double *places);

/* A question to the model at one setting: mean, scale and dof [n] of *out, scale and dof where they are there. */
typedef struct cri_kalman_question cri_kalman_question;
struct cri_kalman_question {
    cr_status (*ask)(cr_ctx *cx, const kalman_state *one, const cri_kalman_question *q,
                     double *opt_places, cr_prediction *out);
    const cri_rows *rows;
    size_t          part;   /* of kalman_part; the column of a forecast */
    bool            noise;  /* is added                           */
    size_t          ahead;  /* rows of a forecast                 */
    size_t          n;      /* answers                            */
    size_t          places; /* how many places there are, if any  */
};
/* The answer of the model: at theta, or, of a mixture of Student's t over the settings, Student's t of its mean, variance and,
 * where those have fourth moments, kurtosis. */
cr_status cri_kalman_answer(cr_ctx *cx, const kalman_state *state, const cri_kalman_question *q,
                            double *opt_places, cr_prediction *out);
/* The place behind the rows of a path of one series. */
void cri_kalman_end(const kalman_state *state, const cri_kalman_path *path, double seen,
                    double *place);
/* The time of a place; NaN where nothing was seen, or rows have no times. */
static inline double cri_kalman_time_of(const kalman_state *m, const double *place)
{
    return m->steps != CRI_KALMAN_STEPS_ROWS && place[0] > 0 ? place[m->width - 1] : NAN;
}
/* Series k of all data alone; ends [2] stays the caller's. */
cri_kalman_data cri_kalman_series(const kalman_state *state, const cri_kalman_data *all, size_t k,
                                  size_t *ends);
/* The place at which the series of the fit of this name ends; NULL: there is none. */
const double *cri_kalman_end_of(const kalman_state *state, const char *opt_name);
/* Where a series begins: place [width] is all 0, or, of one without any value, the end of the series of its name. */
void cri_kalman_begin(const kalman_state *state, const char *opt_name, const cri_kalman_data *one,
                      double *place);
/* The names of series as one text, each ended by a line feed: those in the state and, of q, those that `which` marks; NULL
 * where there are none. */
cr_status cri_kalman_join_names(cr_ctx *cx, const char *opt_old, const cri_sequences *q,
                                const bool *opt_which, char **out);

cr_status cri_kalman_update(cr_ctx *cx, const void *state, const cri_rows *rows,
                            const void *options, void **out_state, cr_report *report);
cr_status cri_kalman_sample(cr_ctx *cx, const void *state, const cr_design *design,
                            const cri_rows *opt_rows, size_t count, uint64_t seed, double *out);

/* The rows in the order of their series, in the caller's arena: y, scaled and less `mean`, NaN where rows have no target,
 * and the regressors, scaled likewise.  Row i of the data is row sequences->row[i]. */
cr_status cri_kalman_gather(cr_scratch *s, const cri_rows *rows, const kalman_state *state,
                            double mean, cri_kalman_data *out);

/* What a step of the rows' times is: state->unit, between and span, for state->steps; opt_unit NaN: not given. */
cr_status cri_kalman_find_unit(cr_ctx *cx, const cri_rows *rows, double opt_unit,
                               kalman_state *state);
/* Warns where the steps of --time are not all the same, though a row is one step, whatever the clock says. */
void cri_kalman_warn_of_steps(cr_ctx *cx, const cri_rows *rows);
/* The steps of data, which were gathered from the rows, and the different gaps that there are, in the caller's arena.
 * opt_begun [series]: the times of the places at which the series begin, NaN of one that begins anew. */
typedef struct cri_kalman_gaps {
    double *gap; /* [n] rising */
    size_t  n;
} cri_kalman_gaps;
cr_status cri_kalman_count_steps(cr_scratch *s, const kalman_state *state, const cri_rows *rows,
                                 const double *opt_begun, cri_kalman_data *data,
                                 cri_kalman_gaps *out);
/* Both the steps of data and those of the system, which is open. */
cr_status cri_kalman_open_steps(cr_scratch *s, const kalman_state *state, const cri_rows *rows,
                                const double *opt_begun, cri_kalman_data *data,
                                cri_kalman_system *system);

/* A model given by its matrices, from a file of JSON or from the JSON itself. */
cr_status cri_kalman_read_matrices(cr_ctx *cx, const char *text, kalman_state *out);

extern const cri_sequence_face cri_kalman_sequence;
extern const cri_rows_face     cri_kalman_rows;
extern const cri_function_face cri_kalman_function;
cr_status             cri_kalman_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                          cri_sheet *out);
extern const cr_field cri_kalman_statistics[];

#endif
