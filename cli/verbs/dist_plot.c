/* dist_plot.c -- a density as bars of eighth blocks. */
#include "dist_plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 60, HEIGHT = 12, EIGHTHS = 8 };

typedef struct curve {
    double x[WIDTH], y[WIDTH], top;
    size_t n;     /* points: fewer when there are fewer counts */
    size_t thick; /* columns for each */
} curve;

/* Where to look: nearly all of the mass, but no more than some widths of its middle half. */
static cr_status find_range(cli *c, const cr_dist_class *d, const double *v, size_t n, double *low,
                            double *high)
{
    cr_status st = CR_OK;
    double    a = 0, q1 = 0, q3 = 0, b = 0;
    CR_TRY(cr_dist_quantile(c->cx, d, v, n, 0.001, &a));
    CR_TRY(cr_dist_quantile(c->cx, d, v, n, 0.25, &q1));
    CR_TRY(cr_dist_quantile(c->cx, d, v, n, 0.75, &q3));
    CR_TRY(cr_dist_quantile(c->cx, d, v, n, 0.999, &b));
    double reach = 4 * (q3 - q1);
    if (q3 > q1) a = fmax(a, q1 - reach), b = fmin(b, q3 + reach);
    if (!(b > a)) a -= 0.5, b += 0.5;
    *low = a, *high = b;
done:
    return st;
}

/* The middles of WIDTH columns; for counts, one bar each, or every k-th when there are many. */
static cr_status trace(cli *c, const cr_dist_class *d, const double *v, size_t n, curve *out)
{
    cr_status st = CR_OK;
    double    low = 0, high = 1, log_p = 0;
    bool      counts = cr_dist_is_discrete(d);
    if (cr_dist_is_vector(d))
        CR_TRY(cr_fail(c->cx, CR_EUNSUPPORTED, "%s does not offer a plot", cr_dist_name(d)));
    CR_TRY(find_range(c, d, v, n, &low, &high));
    double whole = ceil(high) - floor(low) + 1, step = (high - low) / WIDTH;
    if (counts) low = floor(low), step = fmax(1, ceil(whole / WIDTH));
    out->n = counts ? (size_t)fmin(WIDTH, ceil(whole / step)) : WIDTH;
    out->thick = WIDTH / out->n > 6 ? 6 : WIDTH / out->n;
    out->top = 0;
    for (size_t i = 0; i < out->n; i++) {
        out->x[i] = counts ? low + step * (double)i : low + step * ((double)i + 0.5);
        CR_TRY(cr_dist_logpdf(c->cx, d, v, n, out->x[i], &log_p));
        out->y[i] = exp(log_p);
        if (isfinite(out->y[i])) out->top = fmax(out->top, out->y[i]);
    }
done:
    return st;
}

cr_status dist_plot_put(cli *c, const cr_dist_class *d, const double *v, size_t n, cri_sheet *to)
{
    curve     k;
    cr_status st = trace(c, d, v, n, &k);
    if (st != CR_OK) return st;
    cri_sheet *plot = cri_put_object(to, "plot");
    cri_put_reals(plot, "x", k.x, k.n);
    cri_put_reals(plot, "density", k.y, k.n);
    return CR_OK;
}

/* How many eighths of line `line` (0 at the bottom) a bar of this height fills. */
static int fill(const curve *k, size_t i, int line)
{
    double eighths = fmin(1, k->y[i] / k->top) * HEIGHT * EIGHTHS;
    int    here = (int)floor(eighths + 0.5) - line * EIGHTHS;
    return here < 0 ? 0 : here > EIGHTHS ? EIGHTHS : here;
}

static void print_axis(cli *c, const curve *k)
{
    char   left[32], middle[32], right[32];
    size_t width = k->n * k->thick;
    bool   ascii = cli_locale_is_c();
    out_text(c, "%10s %s", "", ascii ? "+" : "\u2514");
    for (size_t i = 0; i < width; i++) out_text(c, "%s", ascii ? "-" : "\u2500");
    out_number(k->x[0], false, left);
    out_number(k->x[k->n / 2], false, middle);
    out_number(k->x[k->n - 1], false, right);
    if (strlen(left) + strlen(middle) + strlen(right) + 2 > width) middle[0] = '\0';
    size_t from = strlen(left), at = width / 2 - strlen(middle) / 2;
    size_t gap = at > from ? at - from : 1, used = from + gap + strlen(middle);
    out_text(c, "\n%12s%s%*s%s%*s\n", "", left, (int)gap, "", middle,
             width > used ? (int)(width - used) : (int)strlen(right) + 1, right);
}

cr_status dist_plot_text(cli *c, const cr_dist_class *d, const double *v, size_t n)
{
    static const char *const eighths[] = { " ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                           "\u2585", "\u2586", "\u2587", "\u2588" };
    static const char *const plain[] = { " ", " ", ".", ".", ":", ":", "|", "|", "#" };
    bool                     ascii = cli_locale_is_c();
    const char *const       *blocks = ascii ? plain : eighths;
    curve                    k;
    char                     label[32];
    cr_status                st = trace(c, d, v, n, &k);
    if (st != CR_OK) return st;
    out_text(c, "\n");
    for (int line = HEIGHT - 1; line >= 0; line--) {
        bool   labelled = line == HEIGHT - 1 || line == HEIGHT / 2 - 1;
        double height = k.top * (line + 1) / HEIGHT;
        snprintf(label, sizeof label, "%.3g", height);
        out_text(c, "%10s %s", labelled ? label : "", ascii ? "|" : labelled ? "\u2524" : "\u2502");
        for (size_t i = 0; i < k.n; i++)
            for (size_t t = 0; t < k.thick; t++) {
                bool edge = k.thick > 2 && t + 1 == k.thick; /* a gap between wide bars */
                out_text(c, "%s", edge ? " " : blocks[fill(&k, i, line)]);
            }
        out_text(c, "\n");
    }
    print_axis(c, &k);
    return CR_OK;
}
