/* allocator_progress.c -- memory that is counted, progress that is watched, a fit that is stopped.
 *   cc allocator_progress.c $(pkg-config --cflags --libs credence) -o allocator_progress */
#include <credence.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* --- an allocator that counts -------------------------------------------------------------------
 * realloc-like: old == NULL allocates, new_size == 0 frees.  The old size comes with every call, so
 * nothing needs to be kept beside the blocks.  The threads of a call may come at the same time. */
typedef struct counts {
    atomic_size_t blocks, bytes;
} counts;

static void *counted_resize(void *user, void *old, size_t old_size, size_t new_size)
{
    counts *c = user;
    void   *p = NULL;
    if (new_size == 0)
        free(old);
    else if (!(p = realloc(old, new_size)))
        return NULL; /* the old block stays as it was */
    atomic_fetch_add(&c->blocks, (size_t)(old == NULL) - (size_t)(new_size == 0));
    atomic_fetch_add(&c->bytes, new_size - old_size); /* unsigned: going down is a wrap-around */
    return p;
}

/* --- progress, and a way to stop ----------------------------------------------------------------
 * Called on the thread that called into the library.  To stop from here, from another thread or from
 * a signal handler is all the same: cr_interrupt. */
typedef struct watch {
    cr_ctx *cx;
    size_t  patience; /* reports of progress that are waited for */
} watch;

static void on_progress(void *user, const char *what, double done, double total)
{
    watch *w = user;
    (void)what, (void)done, (void)total; /* done / total is the share of the work that is over */
    if (w->patience > 0) w->patience--;
    if (w->patience == 0) cr_interrupt(w->cx);
}

/* --- data: y = x1 - 2 x2 + noise ------------------------------------------------------------- */
enum { ROWS = 200, COLUMNS = 3 };

static void simulate(double *X) /* [ROWS x COLUMNS], the last column is y */
{
    cr_rng rng = cr_rng_stream(42, 0);
    for (size_t i = 0; i < ROWS; i++) {
        double *row = X + i * COLUMNS;
        row[0] = cr_rng_normal(&rng);
        row[1] = cr_rng_normal(&rng);
        row[2] = row[0] - 2 * row[1] + 0.5 * cr_rng_normal(&rng);
    }
}

static const char *status_word(cr_status st)
{
    return st == CR_OK ? "fitted" : st == CR_EINTERRUPTED ? "stopped on request" : "failed";
}

static cr_status run(cr_ctx *cx, counts *c, watch *w)
{
    static const char *const names[COLUMNS] = { "x1", "x2", "y" };
    const cr_setting         settings[] = { { "target", "y" }, { "optimize", "em" } };
    static double            X[ROWS * COLUMNS];
    cr_status                st = CR_OK;
    cr_table                *table = NULL;
    cr_model                *model = NULL;

    simulate(X);
    CR_TRY(cr_table_new(cx, "simulated", ROWS, &table));
    CR_TRY(cr_table_borrow_matrix(cx, table, CR_REAL, cr_cmat_of(X, ROWS, COLUMNS), names));

    size_t before = c->bytes;
    w->patience = 3;
    st = cr_fit(cx, "bayes-linear", table, settings, 2, &model);
    printf("with patience 3: %s (%s)\n", status_word(st), cr_error(cx));
    printf("  no model: %s; memory as before: %s\n", model ? "no" : "yes",
           c->bytes == before ? "yes" : "no");
    if (st != CR_EINTERRUPTED) goto done;

    cr_interrupt_clear(cx); /* a request to stop sticks until it is taken back */
    w->patience = 1000000;
    CR_TRY(cr_fit(cx, "bayes-linear", table, settings, 2, &model));
    printf("with patience: %s, %s after %zu steps\n", status_word(st),
           cr_stop_name(cr_model_get_report(model)->stop), cr_model_get_report(model)->iterations);

    cr_model_free(cx, model);
    model = NULL;
    cr_ctx_set_memory_limit(cx, cr_ctx_memory(cx) + 100);
    st = cr_fit(cx, "bayes-linear", table, settings, 2, &model);
    printf("with 100 bytes more to use: %s\n",
           st == CR_ENOMEM ? "refused for memory" : status_word(st));
    if (st == CR_ENOMEM) st = CR_OK;
done:
    cr_model_free(cx, model);
    cr_table_free(cx, table);
    return st;
}

int main(void)
{
    counts       c = { 0, 0 };
    watch        w = { NULL, 0 };
    cr_allocator counting = { counted_resize, &c };

    if (cr_ctx_new(&counting, &w.cx) != CR_OK) return 1;
    cr_ctx_set_progress(w.cx, on_progress, &w);
    cr_ctx_set_threads(w.cx, 2); /* never changes a result */
    cr_status st = run(w.cx, &c, &w);
    if (st != CR_OK) fprintf(stderr, "error: %s\n", cr_error(w.cx));
    cr_ctx_free(w.cx);
    printf("at the end: %zu blocks, %zu bytes\n", (size_t)c.blocks, (size_t)c.bytes);
    return st == CR_OK && c.bytes == 0 ? 0 : 1;
}
