/* cmd_denoise.c -- denoise: an image as a Markov network of its pixels. */
#include "../cli.h"
#include "base/scratch.h"
#include "data/image/image.h"
#include "graph/image/grid.h"
#include "graph/files/network_file.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* clang-format off */
#define DENOISE_OPTIONS(X)                                                                         \
    X(choice, method,   "cut", CR_GRID_METHODS,                                                    \
      "minimum cut (exact for two greys), iterated conditional modes, max-product messages, or the most frequent labels in Gibbs sampling", \
      "gibbs")                                                                                     \
    X(count,  labels,   "2", "2..256", "number of greys in the result", "16")                                \
    X(real,   noise,    "0.1", "0<..<1",                                                           \
      "with two greys: probability that a pixel is wrong; with more: standard deviation of the noise, white being 1", "0.15") \
    X(real,   coupling, "1", ">=0", "cost of a step of one label between neighbours", "1.5")       \
    X(real,   truncate, "2", ">=1", "larger steps than this many labels cost no more", "4") \
    X(count,  sweeps,   "100", "1..1000000",                                                       \
      "maximum number of sweeps; for gibbs the exact number, of which the first fifth is discarded", "500")             \
    X(text,   truth,    "", "FILE", "the image without noise, to compare with", "truth.pgm")       \
    X(text,   network,  "", "FILE",                                                                \
      "write the model as a Markov network: .uai or .cred", "image.uai")
/* clang-format on */
CR_OPTIONS(denoise_options, denoise_table, DENOISE_OPTIONS);

typedef struct denoise_job {
    cli                   *c;
    const denoise_options *o;
    cr_scratch             s;
    cr_image               image, truth;
    cr_grid                grid;
    double                *cost;
    size_t                *before, *x; /* labels */
    cr_grid_report         report;
    double                 seconds;
} denoise_job;

static size_t nearest(const denoise_job *j, double grey)
{
    return (size_t)lround(grey * (double)(j->o->labels - 1));
}

/* How improbable a label makes what is seen: a flip, or Gaussian noise. */
static double cost_of(const denoise_job *j, double grey, size_t label)
{
    double noise = j->o->noise, off = grey - (double)label / (double)(j->o->labels - 1);
    if (j->o->labels > 2) return off * off / (2 * noise * noise);
    return nearest(j, grey) == label ? -log1p(-noise) : -log(noise);
}

static cr_status make_grid(denoise_job *j)
{
    cr_status st = CR_OK;
    size_t    n = j->image.width * j->image.height, K = j->o->labels;
    j->cost = cr_scratch_f64(&j->s, n * K);
    j->before = cr_scratch_index(&j->s, n);
    j->x = cr_scratch_index(&j->s, n);
    CR_TRY(j->s.status);
    if (K == 2 && j->o->noise >= 0.5)
        CR_TRY(cr_fail(j->c->cx, CR_EARG,
                       "--noise %g: with two greys, a pixel is wrong with a probability below 0.5",
                       j->o->noise));
    for (size_t i = 0; i < n; i++) {
        if (i % j->image.width == 0) CR_TRY(cr_check_interrupt(j->c->cx));
        j->before[i] = nearest(j, j->image.pixel[i]);
        for (size_t l = 0; l < K; l++) j->cost[i * K + l] = cost_of(j, j->image.pixel[i], l);
    }
    j->grid =
        (cr_grid){ j->image.width, j->image.height, K, j->cost, j->o->coupling, j->o->truncate };
done:
    return st;
}

static cr_status read_truth(denoise_job *j)
{
    cr_status st = CR_OK;
    if (!j->o->truth) goto done;
    CR_TRY(cr_image_read(j->c->cx, j->o->truth, &j->truth));
    if (j->truth.width != j->image.width || j->truth.height != j->image.height)
        CR_TRY(cr_fail(j->c->cx, CR_EDATA, "%s has %zu x %zu pixels, but %s %zu x %zu", j->o->truth,
                       j->truth.width, j->truth.height, j->c->args[0], j->image.width,
                       j->image.height));
done:
    return st;
}

static bool to_stdout(const denoise_job *j)
{
    return j->c->global.output && strcmp(j->c->global.output, "-") == 0;
}

/* The name must say PNG or PGM. */
static cr_status check_ending(const denoise_job *j, const char *out)
{
    static const char *const endings[] = { ".png", ".pgm", ".pnm" };
    if (strcmp(out, "-") == 0 || strncmp(out, "/dev/", 5) == 0) return CR_OK;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (cli_ends_with(out, endings[i])) return CR_OK;
    cr_fail(j->c->cx, CR_EARG, "denoise writes PNG and PGM images, but '%s' is neither", out);
    return cr_fail_hint(j->c->cx, "end the name in .png or .pgm");
}

/* The image must not take the place of what it was made from. */
static cr_status check_output(const denoise_job *j)
{
    struct stat a, b;
    const char *out = j->c->global.output, *in = j->c->args[0];
    cr_status   st = out ? check_ending(j, out) : CR_OK;
    if (st != CR_OK) return st;
    if (!out || stat(out, &a) != 0 || stat(in, &b) != 0 || !S_ISREG(a.st_mode)) return CR_OK;
    if (a.st_dev != b.st_dev || a.st_ino != b.st_ino) return CR_OK;
    cr_fail(j->c->cx, CR_EARG, "the output %s would replace the input %s", out, in);
    return cr_fail_hint(j->c->cx, "give the output a different name");
}

static cr_status write_network(denoise_job *j)
{
    cr_network *net = NULL;
    cr_status   st = cr_grid_network(j->c->cx, &j->grid, &net);
    if (st == CR_OK) st = cr_network_write(j->c->cx, net, j->o->network, CR_FORMAT_AUTO);
    cr_network_free(j->c->cx, net);
    return st;
}

static cr_status write_image(denoise_job *j)
{
    cr_status st = CR_OK;
    cr_image  out = { 0 };
    if (!j->c->global.output) goto done;
    CR_TRY(cr_image_new(j->c->cx, j->image.width, j->image.height, &out));
    for (size_t i = 0; i < out.width * out.height; i++)
        out.pixel[i] = (double)j->x[i] / (double)(j->o->labels - 1);
    CR_TRY(cr_image_write(j->c->cx, &out, to_stdout(j) ? "/dev/stdout" : j->c->global.output));
done:
    cr_image_free(j->c->cx, &out);
    return st;
}

/* The share of wrong pixels; of more greys the root of the mean square of what they miss. */
static double error_of(const denoise_job *j, const size_t *x, bool raw)
{
    double sum = 0;
    size_t n = j->image.width * j->image.height;
    for (size_t i = 0; i < n; i++) {
        double shown =
            raw && j->o->labels > 2 ? j->image.pixel[i] : (double)x[i] / (double)(j->o->labels - 1);
        double off = j->o->labels > 2 ? shown - j->truth.pixel[i]
                                      : (double)(x[i] != nearest(j, j->truth.pixel[i]));
        sum += off * off;
    }
    return j->o->labels > 2 ? sqrt(sum / (double)n) : sum / (double)n;
}

static const cr_field result_denoise[] = {
    CR_TEXT("image", 0, "the file, as it was named"),
    CR_COUNT("width", 0, "pixels"),
    CR_COUNT("height", 0, "pixels"),
    CR_COUNT("labels", 0, "number of greys in the result"),
    CR_TEXT("method", 0, "cut, icm, max-product or gibbs"),
    CR_FLAG("exact", 0, "whether this is the minimum energy"),
    CR_FLAG("converged", 0, "whether it converged"),
    CR_COUNT("sweeps", 0, "sweeps over the pixels; for cut, its moves"),
    CR_MEASURE("energy_before", "nats", 0, "energy of the original image, in the nearest greys"),
    CR_MEASURE("energy", "nats", 0, "energy of the result: -log p up to a constant"),
    CR_COUNT("changed", 0, "pixels"),
    CR_NUMBER("error_before", CR_FIELD_SOMETIMES,
              "with --truth: the share of wrong pixels; with more than two greys, the root mean "
              "square error"),
    CR_NUMBER("error", CR_FIELD_SOMETIMES, "the same for the result"),
    CR_COUNT("seed", 0, "random seed"),
    CR_MEASURE("seconds", "seconds", 0, "time taken, excluding reading and writing"),
    CR_FIELD_LAST,
};

static void fill(const denoise_job *j, cri_sheet *out)
{
    static const char *const names[] = { "cut", "icm", "max-product", "gibbs" };
    size_t                   changed = 0;
    for (size_t i = 0; i < j->image.width * j->image.height; i++)
        changed += j->x[i] != j->before[i];
    cri_put_text(out, "image", j->c->args[0]);
    cri_put_count(out, "width", j->image.width);
    cri_put_count(out, "height", j->image.height);
    cri_put_count(out, "labels", j->o->labels);
    cri_put_text(out, "method", names[j->o->method]);
    cri_put_flag(out, "exact", j->report.exact);
    cri_put_flag(out, "converged", j->report.converged);
    cri_put_count(out, "sweeps", j->report.sweeps);
    cri_put_real(out, "energy_before", cr_grid_energy(&j->grid, j->before));
    cri_put_real(out, "energy", j->report.energy);
    cri_put_count(out, "changed", changed);
    if (j->o->truth) {
        cri_put_real(out, "error_before", error_of(j, j->before, true));
        cri_put_real(out, "error", error_of(j, j->x, false));
    }
    if (j->c->format != FORMAT_JSON) return;
    cri_put_count(out, "seed", j->c->fit.seed);
    cri_put_real(out, "seconds", j->seconds);
}

static cr_status show(denoise_job *j)
{
    cr_status  st = CR_OK;
    cri_sheet *s = cri_sheet_new(j->c->cx), *rows = cri_put_list(s, "rows");
    cri_sheet *out = cri_put_object(rows, NULL);
    fill(j, out);
    CR_TRY(cri_sheet_status(s));
    CR_TRY(out_open(j->c, NULL));
    if (j->c->format == FORMAT_JSON)
        out_result(j->c, "denoise", out);
    else if (j->c->format == FORMAT_CSV)
        out_rows(j->c, rows);
    else
        out_values(j->c, out);
done:
    cri_sheet_free(s);
    return st;
}

static cr_status run_denoise(cli *c)
{
    cr_status       st = CR_OK;
    denoise_job     j = { .c = c, .o = c->own, .s = cr_scratch_begin(c->cx) };
    cr_grid_options how = cr_grid_defaults();
    double          begin;
    CR_TRY(check_output(&j));
    CR_TRY(cr_image_read(c->cx, c->args[0], &j.image));
    CR_TRY(read_truth(&j));
    CR_TRY(make_grid(&j));
    how.method = (cr_grid_method)j.o->method;
    how.sweeps = j.o->sweeps;
    how.seed = c->fit.seed;
    begin = cli_seconds();
    CR_TRY(cr_grid_solve(c->cx, &j.grid, &how, j.x, &j.report));
    j.seconds = cli_seconds() - begin;
    if (!j.report.converged)
        cr_log(c->cx, CR_LOG_WARNING, "%s after %zu %s, without converging",
               j.report.timed ? "the time limit ended it" : "stopped", j.report.sweeps,
               j.o->method == CR_GRID_CUT ? "moves" : "sweeps");
    CR_TRY(cli_check_strict(c));
    if (j.o->network) CR_TRY(write_network(&j));
    CR_TRY(write_image(&j));
    if (!to_stdout(&j)) CR_TRY(show(&j));
done:
    cr_image_free(c->cx, &j.image);
    cr_image_free(c->cx, &j.truth);
    cr_scratch_end(&j.s);
    return st;
}

const cli_verb verb_denoise = {
    .name = "denoise",
    .usage = "denoise IMAGE [--method cut] [-o FILE.png]",
    .summary = "remove noise from an image with a Markov network of its pixels",
    .example = "credence denoise examples/denoise/noisy.pgm -o clean.png\n"
               "credence denoise examples/denoise/noisy.pgm --method icm "
               "--truth examples/denoise/truth.pgm",
    .options = denoise_table,
    .options_size = sizeof(denoise_options),
    .takes = VERB_SAVES,
    .least = 1,
    .most = 1,
    .run = run_denoise,
    .result = result_denoise,
};
