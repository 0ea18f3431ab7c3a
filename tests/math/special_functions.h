/* special_functions.h -- the special functions by the names of the reference tables, and the check
 * of one value of them. */
#ifndef CREDENCE_TEST_SPECIAL_FUNCTIONS_H
#define CREDENCE_TEST_SPECIAL_FUNCTIONS_H

#include "support.h"
#include "math/special/special.h"

#define SPECIAL_TOLERANCE 4e-15

typedef struct special_function {
    const char *name;
    double (*one)(double);
    double (*two)(double, double);
    double (*three)(double, double, double);
    bool crosses_zero; /* inside its domain: there the error counts as absolute */
} special_function;

#define ONE(f)                                                                                     \
    {                                                                                              \
#f, cr_##f, NULL, NULL, false                                                              \
    }
#define ONE_CROSSING(f)                                                                            \
    {                                                                                              \
#f, cr_##f, NULL, NULL, true                                                               \
    }
#define TWO(f)                                                                                     \
    {                                                                                              \
#f, NULL, cr_##f, NULL, false                                                              \
    }
#define TWO_CROSSING(f)                                                                            \
    {                                                                                              \
#f, NULL, cr_##f, NULL, true                                                               \
    }
#define THREE(f)                                                                                   \
    {                                                                                              \
#f, NULL, NULL, cr_##f, false                                                              \
    }

static const special_function special_functions[] = {
    ONE_CROSSING(lgamma_abs),
    ONE_CROSSING(digamma),
    ONE(trigamma),
    ONE_CROSSING(tetragamma),
    ONE(digamma_inv),
    ONE_CROSSING(log_digamma_inv),
    TWO_CROSSING(lmvgamma),
    TWO_CROSSING(lgamma_diff),
    ONE(stirlerr),
    TWO(bd0),
    TWO(gamma_p),
    TWO(gamma_q),
    TWO(log_gamma_p),
    TWO(log_gamma_q),
    TWO(gamma_p_inv),
    TWO(gamma_q_inv),
    TWO(chi2_logsf),
    TWO_CROSSING(lbeta),
    TWO(lchoose),
    THREE(betainc),
    THREE(betainc_upper),
    THREE(log_betainc),
    THREE(log_betainc_upper),
    THREE(betainc_inv),
    THREE(f_logsf),
    TWO_CROSSING(log_bessel_i),
    TWO_CROSSING(log_bessel_k),
    ONE(bessel_i0_scaled),
    ONE(bessel_i1_scaled),
    ONE(bessel_i1_over_i0),
    ONE(bessel_ratio_inv),
    ONE(erf),
    ONE(erfc),
    ONE(erfcx),
    ONE(erfinv),
    ONE(erfcinv),
    ONE(norm_cdf),
    ONE(norm_logcdf),
    ONE(norm_ppf),
    ONE(inv_mills),
    ONE(trunc_norm_mean_above),
    ONE(trunc_norm_var_above),
    TWO(owens_t),
    THREE(log_bvn_cdf_h_k_rho),
    TWO(student_t_logpdf),
    TWO(student_t_cdf),
    TWO(student_t_logcdf),
    TWO(student_t_ppf),
    TWO(xlogy),
    ONE(logit),
    ONE(sigmoid),
    ONE(log_sigmoid),
    ONE(log1pexp),
    ONE(log1mexp),
    ONE(expm1_over_x),
    ONE(entropy_binary_nats),
};
enum { SPECIAL_COUNT = sizeof special_functions / sizeof *special_functions };

static inline const special_function *find_special(const char *name)
{
    for (size_t i = 0; i < SPECIAL_COUNT; i++)
        if (strcmp(special_functions[i].name, name) == 0) return &special_functions[i];
    return NULL;
}

static inline double call_special(const special_function *f, const double *x)
{
    return f->one ? f->one(x[0]) : f->two ? f->two(x[0], x[1]) : f->three(x[0], x[1], x[2]);
}

/* The error of f at x: relative, or absolute near a zero.  Values below the least normal double may
 * come out as 0. */
static inline double special_error(const special_function *f, const double *x, double value)
{
    double got = call_special(f, x), off = fabs(got - value);
    if (got == value || (fabs(value) < 1e-307 && fabs(got) < 1e-307)) return 0;
    if (isnan(got)) return INFINITY;
    return f->crosses_zero && fabs(value) < 1 ? off : off / fabs(value);
}

/* The worst error per function; printed at the end. */
typedef struct special_worst {
    size_t rows[SPECIAL_COUNT];
    double error[SPECIAL_COUNT];
} special_worst;

/* Checks one row; false if it is off by more than the tolerance. */
static inline bool check_special(special_worst *w, const special_function *f, const double *x,
                                 double value)
{
    size_t at = (size_t)(f - special_functions);
    double error = special_error(f, x, value);
    w->rows[at]++;
    if (error > w->error[at]) w->error[at] = error;
    if (error <= SPECIAL_TOLERANCE) return true;
    print_error("%s(%.17g, %.17g, %.17g): got %.17g, expected %.17g, off by %.3g\n", f->name, x[0],
                x[1], x[2], call_special(f, x), value, error);
    return false;
}

static inline void print_worst(const special_worst *w)
{
    for (size_t i = 0; i < SPECIAL_COUNT; i++)
        if (w->rows[i] > 0)
            print_message("  %-22s %4zu values, worst error %.1e\n", special_functions[i].name,
                          w->rows[i], w->error[i]);
}

/* Reads rows `function,...` from f: `skip` fields behind the name, then three arguments, then
 * `between` fields, then the value.  Returns how many rows are wrong; counts those of a function
 * that is here. */
static inline size_t check_special_file(FILE *f, size_t skip, size_t between, size_t *out_rows)
{
    char          line[256];
    special_worst worst = { 0 };
    size_t        wrong = 0, last = skip + 4 + between;
    while (fgets(line, sizeof line, f)) {
        char *field[8], *at = line;
        for (size_t i = 0; i <= last; i++) field[i] = at ? strsep(&at, ",\n") : NULL;
        const char *name =
            strcmp(field[0], "digamma_inv") == 0 && skip ? "log_digamma_inv" : field[0];
        const special_function *e = find_special(name);
        if (!e || !field[last]) continue;
        double x[3] = { atof(field[skip + 1]), atof(field[skip + 2]), atof(field[skip + 3]) };
        wrong += !check_special(&worst, e, x, atof(field[last]));
        ++*out_rows;
    }
    print_worst(&worst);
    return wrong;
}

#endif
