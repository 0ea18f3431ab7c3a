/* dist_class.h -- what a distribution declares: one descriptor, from which every surface is made.
 * Kernels are pure: they get parameters that have been checked and cannot fail.  A function that a
 * distribution cannot offer is NULL; NaN from a kernel means that the quantity does not exist for
 * these parameters.  (Internal header.) */
#ifndef CREDENCE_PROB_DIST_CLASS_H
#define CREDENCE_PROB_DIST_CLASS_H

#include "dist.h"

typedef struct cri_par { /* parameters, by value */
    const double *v;
    size_t        n;
} cri_par;

/* Which numbers a parameter, or a datum, may be. */
typedef struct cri_domain {
    const char *text;
    double      low, high;
    bool        open_low, open_high, whole;
} cri_domain;

extern const cri_domain cri_any, cri_positive, cri_not_negative, cri_unit, cri_open_unit, cri_count,
    cri_count_from_one, cri_zero_or_one;

typedef struct cri_dist_param {
    cr_dist_param     shown;  /* its domain text is that of `domain` */
    const cri_domain *domain; /* of each entry */
} cri_dist_param;

/* One row of a parameter table. */
#define CRI_PARAM(name, domain, text, example, help)                                               \
    {                                                                                              \
        { name, text, help, example, CR_SHAPE_SCALAR, false, false }, &(domain)                    \
    }
#define CRI_PARAM_STANDARD(name, domain, text, value, help)                                        \
    {                                                                                              \
        { name, text, help, value, CR_SHAPE_SCALAR, false, true }, &(domain)                       \
    }
#define CRI_PARAM_GIVEN(name, domain, text, example, help)                                         \
    {                                                                                              \
        { name, text, help, example, CR_SHAPE_SCALAR, true, false }, &(domain)                     \
    }
#define CRI_PARAM_SHAPED(shape, name, domain, text, example, help)                                 \
    {                                                                                              \
        { name, text, help, example, shape, false, false }, &(domain)                              \
    }
#define CRI_PARAM_LAST                                                                             \
    {                                                                                              \
        { NULL, NULL, NULL, NULL, CR_SHAPE_SCALAR, false, false }, NULL                            \
    }

enum { /* which tail, and whether its logarithm */
       CRI_LOWER = 0,
       CRI_UPPER = 1,
       CRI_LOG = 2
};

/* Data to fit: finite values in the family's domain, weights >= 0 with a positive sum. */
typedef struct cri_sample {
    const double *x, *w; /* w may be NULL */
    size_t        n;
    double        total; /* of the weights */
} cri_sample;

/* The same for points of `size` entries, x [n x size]. */
typedef struct cri_points {
    const double *x, *w; /* w may be NULL */
    size_t        n, size;
    double        total;
} cri_points;

/* An exponential family; sizes follow from the number of parameters.  Without names, statistic and
 * mean there is one statistic, x itself. */
typedef struct cri_family {
    const char *const *statistics; /* names; a "%zu" in the last one is its number, for all there */
    size_t             n_statistics;
    size_t (*count)(size_t n); /* NULL: n_statistics */
    void (*natural)(cri_par p, double *eta);
    double (*log_partition)(cri_par p, const double *eta); /* p: for what is not natural (trials) */
    void (*statistic)(cri_par p, double x, double *t);
    void (*mean)(cri_par p, double *t);
} cri_family;

/* The same for vectors.  The log-partition follows from eta alone but for what is not natural
 * (trials): NaN where it does not exist.  spare: doubles that each of them may use. */
typedef struct cri_vector_family {
    size_t (*count)(size_t d);
    void (*name)(size_t d, size_t i, char *out, size_t size);
    void (*natural)(const double *p, size_t d, const double *work, double *eta, double *spare);
    double (*log_partition)(const double *p, size_t d, const double *eta, double *spare);
    void (*statistic)(size_t d, const double *x, double *t, double *spare);
    void (*mean)(const double *p, size_t d, const double *work, double *t, double *spare);
    size_t (*spare)(size_t d); /* NULL: none */
} cri_vector_family;

/* A distribution of vectors: d from the parameters, work [work(d)] filled by prepare, which fails
 * when a matrix is not positive definite. */
typedef struct cri_vector {
    size_t (*point)(size_t d);
    size_t (*work)(size_t d);
    cr_status (*prepare)(cr_ctx *cx, const double *p, size_t d, double *work);
    double (*logpdf)(const double *p, size_t d, const double *work, const double *x, double *spare);
    size_t (*spare)(size_t d); /* doubles that logpdf, sample and mean may use; NULL: none */
    void (*mean)(const double *p, size_t d, const double *work, double *out); /* NaN: none */
    void (*mode)(const double *p, size_t d, const double *work, double *out);
    void (*variance)(const double *p, size_t d, const double *work, double *out);
    double (*entropy)(const double *p, size_t d, const double *work);
    void (*sample)(const double *p, size_t d, const double *work, cr_rng *r, double *out,
                   double *spare);
    double (*kl)(const double *p, const double *p_work, const double *q, const double *q_work,
                 size_t d, double *spare);
    /* The divergence where it is an integral, which can fail: instead of kl. */
    cr_status (*kl_integral)(cr_ctx *cx, const double *p, const double *p_work, const double *q,
                             const double *q_work, size_t d, double *out);
    cr_status (*fit)(cr_ctx *cx, const cri_points *s, double *v, size_t d);
    const cri_vector_family *family; /* NULL: not an exponential family */
} cri_vector;

struct cr_dist_class {
    const char           *name, *summary, *formula, *reference, *support_text;
    const cri_dist_param *params;
    bool                  discrete;
    bool                  circular; /* the density goes on, periodic, beyond the support */
    const cri_domain     *data;     /* what a datum may be, whatever the parameters */

    /* What must hold between parameters that are each in their domain; NULL: nothing. */
    cr_status (*check)(cr_ctx *cx, cri_par p);
    void (*support)(cri_par p, double *low, double *high);
    double (*logpdf)(cri_par p, double x);             /* low <= x <= high, whole if discrete */
    double (*cdf)(cri_par p, double x, unsigned side); /* low <= x < high, whole if discrete  */
    double (*quantile)(cri_par p, double prob);        /* 0 < prob < 1; NULL: searched        */
    double (*mean)(cri_par p);
    double (*mode)(cri_par p);
    double (*variance)(cri_par p);
    double (*entropy)(cri_par p);
    double (*sample)(cri_par p, cr_rng *r);
    cr_status (*fit)(cr_ctx *cx, const cri_sample *s, double *v, size_t n);
    double (*kl)(cri_par p, cri_par q);
    /* The divergence where it is an integral, which can fail: instead of kl. */
    cr_status (*kl_integral)(cr_ctx *cx, cri_par p, cri_par q, double *out);
    double (*crps)(cri_par p, double y); /* NULL: integrated */

    const cri_family *family; /* NULL: not an exponential family */
    const cri_vector *vector; /* NULL: a distribution of one variable */
};

/* --- what the descriptors share -------------------------------------------------------------- */

/* Supports. */
void cri_support_real(cri_par p, double *low, double *high);
void cri_support_positive(cri_par p, double *low, double *high); /* also the counts */
void cri_support_unit(cri_par p, double *low, double *high);     /* also zero or one */

/* Members of descriptors: all real x; x > 0 or x >= 0, with the data that a fit takes. */
#define CRI_ON_REALS .support_text = "all real x", .data = &cri_any, .support = cri_support_real
#define CRI_ON_POSITIVES(text, domain)                                                             \
    .support_text = (text), .data = &(domain), .support = cri_support_positive

/* Numbers of a vector of d, and of a matrix. */
size_t cri_size_same(size_t d);
size_t cri_size_square(size_t d);

/* Means, modes: the first parameter; 0.  And (x - location) / scale, of those that come first. */
double               cri_first(cri_par p);
double               cri_zero(cri_par p);
static inline double cri_standard(cri_par p, double x) { return (x - p.v[0]) / p.v[1]; }

/* A probability known as one of its four faces: the tail `p` (or its logarithm) of the side asked.
 */
double cri_face(double lower, double upper, unsigned side);

/* Density and tail with the support seen to: any x. */
double cri_dist_logpdf(const cr_dist_class *c, cri_par p, double x);
double cri_dist_cdf(const cr_dist_class *c, cri_par p, double x, unsigned side);
double cri_dist_quantile(const cr_dist_class *c, cri_par p, double prob);
/* Sums over counts give up beyond this. */
enum { CRI_MOST_TERMS = 20000000 };
/* -sum p log p over the whole numbers of the support, from the mode outwards (NaN: over
 * all of it); NaN past 2e7 terms. */
double cri_sum_entropy(const cr_dist_class *c, cri_par p, double mode);
/* The same for sum p log(p / q). */
double cri_sum_kl(const cr_dist_class *c, cri_par p, cri_par q, double mode);
/* The dimension d such that the parameters of c take n numbers; 0 when there is none. */
size_t cri_dist_dimension(const cr_dist_class *c, size_t n);
/* How many numbers the parameters of c take in d dimensions. */
size_t cri_dist_numbers(const cr_dist_class *c, size_t d);
/* The statistics of an exponential family of one variable at x. */
void cri_dist_statistic(const cr_dist_class *c, cri_par p, double x, double *t);
/* How many parameters, vectors and matrices counted once. */
size_t cri_dist_param_count(const cr_dist_class *c);

/* All of them, in the order in which they are listed; X(stem) stands for cri_dist_<stem>. */
/* clang-format off */
#define CRI_DISTRIBUTIONS(X) \
    X(asymmetric_laplace) X(bernoulli) X(beta) X(beta_binomial) X(binomial) X(categorical) \
    X(cauchy) X(chi_square) X(dirichlet) X(dirichlet_multinomial) X(exponential) X(gamma) \
    X(geometric) X(gumbel) X(half_cauchy) X(hypergeometric) X(inverse_gamma) X(inverse_gaussian) \
    X(inverse_wishart) X(laplace) X(log_normal) X(logistic) X(lomax) X(multinomial) X(mvn) \
    X(mvn_information) X(mvt) X(negative_binomial) X(normal) X(nig) X(niw) X(pareto) X(poisson) \
    X(scaled_inverse_chi_square) X(skew_normal) X(student_t) X(uniform) X(von_mises) X(weibull) \
    X(wishart)
/* clang-format on */
#define CRI_DECLARE(stem) extern const cr_dist_class cri_dist_##stem;
CRI_DISTRIBUTIONS(CRI_DECLARE)
#undef CRI_DECLARE

#endif
