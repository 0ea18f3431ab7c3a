/* kernel.c -- a covariance from an expression: its matrix, its parameters, and what is wrong with
 * it.
 *   cc kernel.c $(pkg-config --cflags --libs credence) -o kernel
 *   ./kernel 'EXPRESSION' */
#include <credence/math.h>

#include <stdio.h>

static void show(cr_ctx *cx, const cr_kernel *k)
{
    double          X[] = { 0, 0, 1, 0, 1, 2 }, K[9];
    cr_kernel_input rows = cr_kernel_rows(cr_cmat_of(X, 3, 2));
    char            text[1000];
    cr_kernel_print(k, text, sizeof text);
    printf("%s\n", text);
    for (size_t i = 0; i < cr_kernel_parameters(k); i++) {
        cr_kernel_parameter p = cr_kernel_parameter_at(k, i);
        printf("  %-16s %g%s\n", p.name, p.value, p.fixed ? ", fixed" : "");
    }
    if (cr_kernel_gram(cx, k, &rows, CR_FILL_BOTH, cr_mat_of(K, 3, 3)) != CR_OK)
        printf("%s\n", cr_error(cx));
    else
        for (size_t i = 0; i < 3; i++)
            printf("%8.5f %8.5f %8.5f\n", K[3 * i], K[3 * i + 1], K[3 * i + 2]);
}

int main(int argc, char **argv)
{
    cr_ctx    *cx = NULL;
    cr_kernel *k = NULL;
    if (argc != 2)
        fprintf(stderr, "usage: %s 'EXPRESSION', for example 'rbf(l=2) + white'\n", argv[0]);
    if (argc != 2 || cr_ctx_new(NULL, &cx) != CR_OK) return 2;
    if (cr_kernel_parse(cx, argv[1], NULL, NULL, 0, &k) == CR_OK)
        show(cx, k);
    else
        printf("%s\n%s\n%s\n", cr_error(cx), cr_error_notes(cx), cr_error_hint(cx));
    cr_kernel_free(cx, k);
    cr_ctx_free(cx);
    return 0;
}
