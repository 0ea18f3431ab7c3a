/* test_special.c -- special functions against a table of 20-digit values, closed forms and laws. */
#include "support.h"
#include "math/special.h"

/* --- the table ----------------------------------------------------------------------------------- */

typedef struct entry {
    const char *name;
    double (*one)(double);
    double (*two)(double, double);
    double (*three)(double, double, double);
    double tolerance;
} entry;

static const entry entries[] = {
    { "lgamma_abs", cr_log_gamma, NULL, NULL, 1e-14 },
    { "digamma", cr_digamma, NULL, NULL, 1e-14 },
    { "trigamma", cr_trigamma, NULL, NULL, 1e-14 },
    { "erfcx", cr_erfcx, NULL, NULL, 1e-14 },
    { "norm_cdf", cr_norm_cdf, NULL, NULL, 1e-14 },
    { "norm_logcdf", cr_norm_logcdf, NULL, NULL, 1e-14 },
    { "norm_ppf", cr_norm_quantile, NULL, NULL, 1e-14 },
    { "inv_mills", cr_norm_inv_mills, NULL, NULL, 1e-14 },
    { "lbeta", NULL, cr_log_beta, NULL, 1e-14 },
    { "log_gamma_p", NULL, cr_log_gamma_p, NULL, 1e-12 },
    { "log_gamma_q", NULL, cr_log_gamma_q, NULL, 1e-12 },
    { "gamma_p_inv", NULL, cr_gamma_p_inv, NULL, 1e-12 },
    { "log_betainc", NULL, NULL, cr_log_betainc, 1e-12 },
    { "betainc_inv", NULL, NULL, cr_betainc_inv, 1e-12 },
    { "student_t_logpdf", NULL, cr_student_t_logpdf, NULL, 1e-14 },
    { "student_t_logcdf", NULL, cr_student_t_logcdf, NULL, 1e-12 },
    { "student_t_ppf", NULL, cr_student_t_quantile, NULL, 1e-12 },
    { "chi2_logsf", NULL, cr_chi2_logsf, NULL, 1e-12 },
    { "f_logsf", NULL, NULL, cr_f_logsf, 1e-12 },
};

static const entry *find_entry(const char *name)
{
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (strcmp(entries[i].name, name) == 0) return &entries[i];
    return NULL;
}

/* Every row of the table whose function we have.  Values below the least double come out as 0. */
static void test_table(void **state)
{
    (void)state;
    const char *path = test_shared_data("classic/specfun.csv");
    if (!path) {
        print_message("skipped: ../shared/data/classic/specfun.csv is not there\n");
        skip();
    }
    FILE  *f = fopen(path, "r");
    char   line[256];
    size_t rows = 0, wrong = 0;
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        char *field[7], *at = line;
        for (size_t i = 0; i < 7; i++) field[i] = at ? strsep(&at, ",\n") : NULL;
        const entry *e = find_entry(field[0]);
        if (!e || !field[6]) continue;
        double a = atof(field[2]), b = atof(field[3]), c = atof(field[4]), v = atof(field[6]);
        double got = e->one ? e->one(a) : e->two ? e->two(a, b) : e->three(a, b, c);
        double off = fabs(got - v) / fabs(v);
        rows++;
        if (getenv("VERBOSE")) print_message("%-18s %10g %10g %10g  %.2g\n", e->name, a, b, c, off);
        if (got == v || off <= e->tolerance || (fabs(v) < 1e-307 && fabs(got) < 1e-307)) continue;
        print_error("%s(%s, %s, %s): got %.17g, expected %s, off by %.3g\n", field[0], field[2],
                    field[3], field[4], got, field[6], off);
        wrong++;
    }
    fclose(f);
    assert_int_equal(wrong, 0);
    assert_true(rows > 130);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
