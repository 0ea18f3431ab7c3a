/* read_model.c -- predict with a model that `credence fit -o` saved.
 *   cc read_model.c $(pkg-config --cflags --libs credence) -o read_model
 *   ./read_model model.cred data.csv */
#include <credence.h>

#include <stdio.h>

/* Reads data for a model: cells mean what they meant when it was fitted. */
static cr_status read_for(cr_ctx *cx, const cr_model *model, const char *path, cr_table **out)
{
    cr_read_options options;
    cr_status       st = CR_OK;
    CR_TRY(cr_options_init(cx, cr_read_table, &options));
    CR_TRY(cr_model_read_options(cx, model, &options));
    CR_TRY(cr_table_read(cx, path, &options, out));
done:
    cr_options_free(cx, cr_read_table, &options);
    return st;
}

static cr_status predict_file(cr_ctx *cx, const char *model_path, const char *data_path)
{
    cr_status     st = CR_OK;
    cr_model     *model = NULL;
    cr_table     *data = NULL;
    cr_prediction p = { 0 };

    CR_TRY(cr_model_load(cx, model_path, &model));
    CR_TRY(read_for(cx, model, data_path, &data));
    CR_TRY(cr_predict(cx, model, data, &p));
    if (p.kind != CR_ANSWER_NUMBER)
        CR_TRY(cr_fail(cx, CR_EUNSUPPORTED, "%s predicts classes, not numbers", model_path));
    for (size_t i = 0; i < p.n; i++) {
        double sd, lower, upper;
        cr_prediction_interval(cx, &p, i, 0.9, &sd, &lower, &upper);
        printf("%s of row %zu: %.1f +- %.1f, 90 %% within %.1f to %.1f\n",
               cr_design_target(cr_model_get_design(model)), i + 1, p.mean[i], sd, lower, upper);
    }
done:
    cr_prediction_free(cx, &p);
    cr_table_free(cx, data);
    cr_model_free(cx, model);
    return st;
}

/* A failure as the program shows it: the sentence, what helps to see it, what to try. */
static void print_failure(const cr_ctx *cx)
{
    fprintf(stderr, "error: %s\n", cr_error(cx));
    if (cr_error_notes(cx)[0]) fprintf(stderr, "  %s\n", cr_error_notes(cx));
    if (cr_error_hint(cx)[0]) fprintf(stderr, "  hint: %s\n", cr_error_hint(cx));
}

int main(int argc, char **argv)
{
    cr_ctx *cx = NULL;
    if (argc != 3) {
        fprintf(stderr, "usage: read_model MODEL.cred DATA\n");
        return 2;
    }
    if (cr_ctx_new(NULL, &cx) != CR_OK) return 1;
    cr_status st = predict_file(cx, argv[1], argv[2]);
    if (st != CR_OK) print_failure(cx);
    cr_ctx_free(cx);
    return st == CR_OK ? 0 : 1;
}
