/* fuzz_program.c -- any text read as a program for small data: it is refused in words, or its density and gradient can
 * be evaluated. */
#include "prob/program/binder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int truth)
{
    if (!truth) abort();
}

static void evaluate(cr_ctx *cx, const cri_bound *p)
{
    cr_scratch   s = cr_scratch_begin(cx);
    size_t       n = p->tape.n_parameters;
    double      *x = cr_scratch_f64(&s, n), *g = cr_scratch_f64(&s, n);
    cri_tape_run run = cri_tape_open(&p->tape, &s);
    if (s.status == CR_OK) {
        for (size_t i = 0; i < n; i++) x[i] = 0.3 - 0.1 * (double)(i % 7);
        double first = cri_tape_density(&run, x, g);
        require(!isnan(first) && first == cri_tape_density(&run, x, NULL));
        cri_tape_report(&run, x);
    }
    cr_scratch_end(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const double            y[] = { 0.5, -1, 2, 1.5 }, k[] = { 1, 2, 1, 3 }, N = 4;
    static const char *const       levels[] = { "a", "b", "c" };
    static const cri_program_datum given[] = {
        { .name = "y", .column = true, .dims = 1, .dim = { 4 }, .values = y },
        { .name = "k",
          .whole = true,
          .column = true,
          .dims = 1,
          .dim = { 4 },
          .values = k,
          .levels = levels,
          .n_levels = 3 },
        { .name = "N", .whole = true, .values = &N },
    };
    cr_ctx         *cx = NULL;
    cri_syntax_tree tree;
    cri_bound       p = { 0 };
    require(cr_ctx_new(NULL, &cx) == CR_OK);
    cr_ctx_set_threads(cx, 1);
    cr_ctx_set_memory_limit(cx, 1 << 28);
    cr_ctx_set_time_limit(cx, 2);
    cr_status st = cri_syntax_read(cx, "fuzz", (const char *)data, size, &tree);
    if (st == CR_OK) {
        st = cri_program_bind(cx, &tree, given, sizeof given / sizeof *given, &p);
        cri_syntax_free(&tree);
        if (st == CR_OK) {
            evaluate(cx, &p);
            cri_bound_free(&p);
        }
    }
    require(st == CR_OK || cr_error(cx)[0] != '\0');
    require(cr_ctx_memory(cx) == 0);
    cr_ctx_free(cx);
    return 0;
}
