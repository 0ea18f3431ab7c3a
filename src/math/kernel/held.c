/* held.c -- rows made ready once for many matrices.
 * Of a matrix of few rows and many columns, looking at the columns and mapping them to features is a good part of the work;
 * here it is done once.  Features of distances lose the mean of the held rows. */
#include "kernel_internal.h"

struct cri_kernel_held {
    cr_ctx          *cx;
    const cr_kernel *kernel;
    cr_kernel_input  in;
    cr_scratch       s;
    cri_job          job;   /* of the rows with themselves */
    bool             plain; /* a kernel with centre(...): each matrix is made from the start */
};

cr_status cri_kernel_hold(cr_ctx *cx, const cr_kernel *k, const cr_kernel_input *rows,
                          cri_kernel_held **out)
{
    cr_status        st = CR_OK;
    cri_kernel_held *h = cr_alloc(cx, 1, sizeof *h);
    if (!h) return CR_ENOMEM;
    *h = (cri_kernel_held){ .cx = cx,
                            .kernel = k,
                            .in = *rows,
                            .s = cr_scratch_begin(cx),
                            .plain = cr_kernel_needs_rows(k) };
    if (!h->plain) CR_TRY(cri_job_begin(&h->s, k, &h->in, NULL, false, &h->job));
    *out = h;
    h = NULL;
done:
    cri_kernel_release(h);
    return st;
}

void cri_kernel_release(cri_kernel_held *h)
{
    if (!h) return;
    cr_scratch_end(&h->s);
    cr_free(h->cx, h, 1, sizeof *h);
}

cr_status cri_kernel_cross_held(cr_ctx *cx, const cri_kernel_held *h, const cr_kernel_input *X,
                                cr_mat out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_job    job;
    if (h->plain) {
        st = cr_kernel_cross(cx, h->kernel, X, &h->in, out);
        goto done;
    }
    CR_TRY(cri_job_begin_held(&s, &h->job, X, &job));
    CR_TRY(cri_job_join(&s, &job));
    CR_TRY(cri_job_fill(cx, &job, out));
done:
    cr_scratch_end(&s);
    return st;
}
