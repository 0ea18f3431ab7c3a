/* gmm_forms.c -- the covariances of each form.
 * In the M-step the covariances maximise  sum_c -N_c/2 log|S_c| - tr(W_c S_c^-1)/2  among those of the form, W_c being
 * the scatter of component c (and of the prior) and N_c what it counts.  Celeux & Govaert (1995), sec. 4. */
#include "gmm.h"

#include <string.h>

const char *cri_gmm_form_name(int form)
{
    static const char *const names[] = { "EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE",
                                         "VEE", "EVE", "VVE", "EEV", "VEV", "EVV", "VVV" };
    return names[form];
}

double cri_gmm_parameters(int form, size_t k, size_t d)
{
    const char *name = cri_gmm_form_name(form);
    double      K = (double)k, D = (double)d;
    double      volumes = name[0] == 'V' ? K : 1;
    double      shapes = name[1] == 'I' ? 0 : (name[1] == 'V' ? K : 1) * (D - 1);
    double      turns = name[2] == 'I' ? 0 : (name[2] == 'V' ? K : 1) * D * (D - 1) / 2;
    return K - 1 + K * D + volumes + shapes + turns;
}

/* Adds all W_c and N_c to those of the first. */
static double pool(size_t k, size_t size, double *W, const double *N)
{
    double total = 0;
    for (size_t c = 0; c < k; c++) {
        total += N[c];
        for (size_t i = 0; c > 0 && i < size; i++) W[i] += W[c * size + i];
    }
    return total;
}

/* The mean of the d numbers of a diagonal, in place of each. */
static void level(double *diagonal, size_t d)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++) sum += diagonal[j];
    for (size_t j = 0; j < d; j++) diagonal[j] = sum / (double)d;
}

cr_status cri_gmm_covariances(cr_ctx *cx, const cri_gmm *m, double *W, const double *N, double *C)
{
    size_t      size = m->d * m->width;
    const char *name = cri_gmm_form_name(m->form);
    bool   equal = name[0] == 'E'; /* of all forms so far: volume, shape and orientation alike */
    double total = equal ? pool(m->k, size, W, N) : 0;
    (void)cx;
    for (size_t c = 0; c < m->k; c++) {
        const double *from = equal ? W : W + c * size;
        for (size_t i = 0; i < size; i++) C[c * size + i] = from[i] / (equal ? total : N[c]);
        if (name[1] == 'I') level(C + c * size, m->d);
    }
    return CR_OK;
}
