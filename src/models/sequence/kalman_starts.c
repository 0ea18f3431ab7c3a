/* kalman_starts.c -- where a search begins: candidates spread over the parameters, at their best common scale. */
#include "base/rng.h"
#include "kalman_arma.h"
#include "kalman_joint.h"
#include "kalman_search.h"

#include <math.h>
#include <string.h>

enum { CANDIDATES = 24, FEW_CANDIDATES = 10 };

/* --- candidates ------------------------------------------------------------------------------ */

static bool is_irregular(const cri_kalman_plan *plan, size_t i)
{
    cri_kalman_entry_of e;
    if (cri_kalman_entry(plan, i, &e)) i = plan->variance[e.of];
    for (size_t k = 0; k < plan->n_parts; k++)
        if (plan->parts[k].kind == CRI_KALMAN_IRREGULAR && plan->parts[k].theta == i) return true;
    return false;
}

/* Candidate number c: the first are the same for all seeds. */
static void propose(const cri_kalman_plan *plan, size_t c, uint64_t seed, double *theta)
{
    static const double ratio[] = { 0.1, 1e-3, 1, 1e-5 };
    cr_rng              rng = cr_rng_stream(seed, c);
    for (size_t i = 0; i < plan->n_theta; i++) {
        double u = cr_rng_uniform(&rng);
        switch (plan->scale[i]) {
        case CRI_KALMAN_VARIANCE:
            theta[i] = is_irregular(plan, i) ? 0 : c < 4 ? log(ratio[c]) : -12 * u;
            break;
        case CRI_KALMAN_PARTIAL:
            theta[i] = cri_theta_of(c == 0 ? 0.1 : c == 1 ? 0.5 : 1.8 * u - 0.9);
            break;
        case CRI_KALMAN_DAMPING: /* 0.9, about */
            theta[i] = c < 4 ? 1.3 : 0.5 + 2 * u;
            break;
        case CRI_KALMAN_PERIOD: /* long ones among them: frequencies crowd at 0 */
            theta[i] =
                cri_theta_of(2 * pow(c < 4 ? 0.2 + 0.2 * (double)c : u, 2) * 0.98 + 0.01 - 1);
            break;
        case CRI_KALMAN_MEAN:
            theta[i] = 0;
        }
    }
}

/* Multiplies all variances by what suits the data best; the log likelihood then. */
static cr_status rescale(cri_kalman_target *t, double *theta, double *out)
{
    cr_status              st = CR_OK;
    const cri_kalman_plan *plan = t->plan;
    cri_kalman_path        path = { 0 };
    bool                   there;
    *out = NAN;
    t->evaluations++;
    CR_TRY(cri_kalman_set(t, theta, &there));
    if (!there) goto done;
    t->data.y = t->y;
    CR_TRY(cri_kalman_filter(t->cx, &t->system, &t->data, false, &path));
    double n = (double)(path.observed - path.fixing), factor = path.squares / n;
    if (!isfinite(path.log_likelihood) || !(factor > 1e-14)) goto done;
    for (size_t i = 0; i < plan->n_theta; i++)
        if (plan->scale[i] == CRI_KALMAN_VARIANCE) theta[i] += log(factor);
    *out = path.log_likelihood - 0.5 * n * (log(factor) + 1) + 0.5 * path.squares;
done:
    cri_kalman_path_free(t->cx, &path);
    return st;
}

size_t cri_kalman_most_starts(size_t restarts)
{
    return restarts < CANDIDATES ? restarts : CANDIDATES;
}

cr_status cri_kalman_starts(cri_kalman_target *t, size_t wanted, uint64_t seed,
                            const cri_clock *clock, double *starts, double *heights, double *work,
                            size_t *out_n)
{
    cr_status st = CR_OK;
    size_t    n = t->plan->n_theta, found = 0;
    size_t candidates = t->plan->dynamic || wanted > FEW_CANDIDATES ? CANDIDATES : FEW_CANDIDATES;
    for (size_t c = 0; c < candidates && !(found > 0 && cri_clock_over(clock)); c++) {
        double height;
        propose(t->plan, c, seed, work);
        st = rescale(t, work, &height);
        if (found > 0 && cri_is_late(t->cx, st)) {
            st = CR_OK;
            break;
        }
        CR_TRY(st);
        if (isnan(height)) continue;
        if (found == wanted && !(height > heights[wanted - 1])) continue;
        size_t at = found < wanted ? found++ : wanted - 1;
        for (; at > 0 && heights[at - 1] < height; at--) {
            heights[at] = heights[at - 1];
            memcpy(starts + at * n, starts + (at - 1) * n, n * sizeof *starts);
        }
        heights[at] = height;
        memcpy(starts + at * n, work, n * sizeof *starts);
    }
    *out_n = found;
done:
    return st;
}
