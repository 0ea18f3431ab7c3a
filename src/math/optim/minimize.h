/* minimize.h -- the minimum of a smooth function, with or without bounds on its variables.
 *   minimise f(x),  x [n],  lower <= x <= upper
 * One door, many rooms: every method takes the same problem and options and gives the same report.
 *   lbfgs       limited-memory BFGS in the box: generalised Cauchy point and subspace minimisation,
 *               O(memory n) per step (Byrd, Lu, Nocedal & Zhu 1995; Morales & Nocedal 2011)
 *   bfgs        dense BFGS, O(n^2) per step (Nocedal & Wright 2006, alg. 6.1)
 *   newton      Newton in a trust region, O(n^3) per step (More & Sorensen 1983)
 *   cg          nonlinear conjugate gradients, O(n) (Hager & Zhang 2005; Polak & Ribiere 1969)
 *   gradient    steepest descent with Barzilai-Borwein trial steps, O(n)
 *   coordinate  one variable after the other, each by Brent's method; no gradient needed
 *   simplex     Nelder & Mead (1965) with the coefficients of Gao & Han (2012); no gradient needed
 *   brent       one variable: Brent (1973), ch. 5; no gradient needed
 * Steps of the first five but newton satisfy the strong Wolfe conditions (More & Thuente 1994).
 * A step into a region where f is NaN or infinite is taken back.  Not converging is a result: the
 * report says why the method stopped. */
#ifndef CREDENCE_MATH_OPTIM_MINIMIZE_H
#define CREDENCE_MATH_OPTIM_MINIMIZE_H

#include "base/option.h"

/* *out_f = f(x), and the gradient [n] when opt_gradient is not NULL.  Returning CR_ENUMERIC says
 * that f has no value at x, which counts as f = NaN; any other failure ends the minimisation. */
typedef cr_status cr_objective_fn(void *user, const double *x, size_t n, double *out_f,
                                  double *opt_gradient);
/* out_hessian [n x n], both triangles. */
typedef cr_status cr_hessian_fn(void *user, const double *x, size_t n, double *out_hessian);

/* An accepted step, as an observer sees it: from x_before along some direction d by `step`. */
typedef struct cr_step {
    size_t        iteration;           /* 1 for the first step                              */
    double        step, f_before, f;   /* step 0: the method does not search along lines    */
    double        slope_before, slope; /* d . gradient at both ends                         */
    double        decrease, curvature; /* the Wolfe constants c1 and c2 in force            */
    bool          cut_short;           /* at a bound, before a NaN, or where rounding ends  */
    const double *x_before, *x;        /* [n]                                               */
} cr_step;
typedef void cr_observe_fn(void *user, const cr_step *step);

typedef struct cr_problem {
    size_t           n;
    cr_objective_fn *objective;
    cr_hessian_fn   *hessian;     /* NULL: newton takes differences of the gradient              */
    bool             no_gradient; /* objective never gives one: central differences are taken    */
    const double    *lower, *upper; /* [n], NULL: none; infinite where there is none             */
    const double    *curvature;  /* [n x n], NULL: none; second derivatives near the start, about:
                                 * what lbfgs sets out with, and drops pair by pair              */
    double           first_step; /* how far lbfgs may go before it knows of the curvature; 0: it
                                  * looks at the gradient and the bounds                         */
    double           f_error;    /* how far rounding puts f off: a rise by no more counts as none;
                                  * 0: the last digits of f alone                                */
    cr_observe_fn   *observe;    /* called after each step, but not by simplex; or NULL         */
    void            *user;       /* for all of these                                            */
} cr_problem;

/* clang-format off */
#define CR_MINIMIZE_OPTIONS(X)                                                                     \
    X(choice, method, "auto", "auto|lbfgs|bfgs|newton|cg|gradient|coordinate|simplex|brent",       \
      "how to minimise; auto: brent for one variable in bounds without gradient, otherwise lbfgs",      \
      "newton")                                                                                    \
    X(count, max_iter,           "1000",  ">=0", "give up after this many steps", "200")           \
    X(count, max_evaluations,    "",      ">=1",                                                   \
      "give up after this many evaluations of f", "5000")                      \
    X(real,  time_limit,         "",      ">0",  "give up after this many seconds", "60")          \
    X(real,  gradient_tolerance, "1e-6",  ">=0",                                                   \
      "converged when no entry of the projected gradient exceeds this times max(1, |f|)", "1e-8")  \
    X(real,  f_tolerance,        "1e-13", ">=0",                                                   \
      "converged when a step lowers f by less than this times max(1, |f|)", "1e-9")                \
    X(real,  x_tolerance,        "0",     ">=0",                                                   \
      "converged when a step moves no x by more than this times max(1, |x|)", "1e-8")              \
    X(count, memory,             "10",    "1..100", "pairs of steps that lbfgs remembers", "20")   \
    X(choice, beta, "hager-zhang", "hager-zhang|polak-ribiere", "formula of conjugate gradients",  \
      "polak-ribiere")                                                                             \
    X(real,  decrease,           "1e-4",  "0<..<0.5", "Wolfe's constant of sufficient decrease",   \
      "0.001")                                                                                     \
    X(real,  curvature,          "",      "0<..<1",                                                \
      "Wolfe's constant of curvature; 0.1 for cg and 0.9 for the others if not given", "0.5")
/* clang-format on */
enum cr_method {
    CR_METHOD_AUTO,
    CR_METHOD_LBFGS,
    CR_METHOD_BFGS,
    CR_METHOD_NEWTON,
    CR_METHOD_CG,
    CR_METHOD_GRADIENT,
    CR_METHOD_COORDINATE,
    CR_METHOD_SIMPLEX,
    CR_METHOD_BRENT
};
enum cr_cg_beta { CR_BETA_HAGER_ZHANG, CR_BETA_POLAK_RIBIERE };

CR_OPTIONS_STRUCT(cr_minimize_options, CR_MINIMIZE_OPTIONS);
/* The table of these options. */
extern CR_API const cr_option cr_minimize_table[];
/* Their defaults; there is nothing to free. */
CR_API cr_minimize_options cr_minimize_defaults(void);

/* Why an iterative method stopped.  The first three are convergence. */
typedef enum cr_end {
    CR_END_GRADIENT,        /* the gradient vanishes                                   */
    CR_END_F,               /* f no longer falls                                       */
    CR_END_X,               /* x no longer moves                                       */
    CR_END_MAX_ITER,        /* as many steps as allowed                                */
    CR_END_MAX_EVALUATIONS, /* as many evaluations as allowed                          */
    CR_END_TIME,            /* the time of the options is over                         */
    CR_END_NO_PROGRESS,     /* no step lowers f, yet the gradient is not small:
                             * rounding, a kink, or a gradient that does not belong to f */
    CR_END_UNBOUNDED,       /* f falls to minus infinity                               */
    CR_END_NOT_FINITE       /* a derivative is not finite                              */
} cr_end;

/* "gradient", "f", "x", "max-iter", ...: for reports. */
CR_API const char *cr_end_name(cr_end stop);
/* The same as a sentence. */
CR_API const char *cr_end_text(cr_end stop);
/* true for the first three. */
CR_API bool cr_end_converged(cr_end stop);

enum { CR_TRACE_SIZE = 256 };

typedef struct cr_minimize_report {
    cr_end stop;
    int    method;        /* enum cr_method: the one that ran                               */
    double f;             /* at the x returned                                              */
    double gradient_norm; /* largest entry of the projected gradient; NaN when not computed */
    size_t iterations;
    size_t f_evaluations, g_evaluations, h_evaluations; /* calls of objective, those with a
                                                         * gradient, calls of hessian       */
    size_t trace_length, trace_stride; /* trace[i] = f after i * trace_stride steps          */
    double trace[CR_TRACE_SIZE];
} cr_minimize_report;

/* Minimises from x [n] on, which is first moved into the box; x becomes the best point found.
 * options NULL: the defaults.  Fails with CR_EARG (a start, bounds or options that cannot be),
 * CR_EUNSUPPORTED (a method that cannot do this problem), CR_ENUMERIC (f is not finite at the
 * start), CR_EINTERRUPTED, CR_ENOMEM or what the objective returns; then x and *out_report stay as
 * they were. */
CR_API cr_status cr_minimize(cr_ctx *cx, const cr_problem *problem,
                             const cr_minimize_options *options, double *x,
                             cr_minimize_report *out_report);

#endif
