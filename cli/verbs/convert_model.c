/* convert_model.c -- support vector machines to and from the model files of LIBSVM. */
#include "../cli.h"
#include "convert_model.h"
#include "data/bytes/source.h"
#include "models/core/network_model.h"
#include "models/kernel/svm/libsvm_model.h"

#include <string.h>
#include <sys/stat.h>

cli_model_kind cli_find_model(cli *c, size_t index)
{
    struct stat    info;
    cri_source    *source = NULL;
    const char    *bytes, *path = c->args[index];
    size_t         size;
    cli_model_kind kind = CLI_NO_MODEL;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return kind;
    if (cri_source_open(c->cx, path, &source) != CR_OK) return kind;
    if (cri_source_peek(source, 4096, &bytes, &size) == CR_OK)
        kind = cr_is_libsvm_model(bytes, size)   ? CLI_LIBSVM_MODEL
               : cri_class_of_bytes(bytes, size) ? CLI_CRED_MODEL
                                                 : CLI_NO_MODEL;
    cri_source_close(source);
    return kind;
}

static cr_status fail_name(cli *c, const char *to, const char *ending, const char *what)
{
    cr_fail(c->cx, CR_EDATA,
            "%s is a model, not data: it becomes %s, which '%s' does not have the name of",
            c->args[0], what, to);
    return cr_fail_hint(c->cx, "end it in %s", ending);
}

cr_status cli_convert_model(cli *c, cli_model_kind kind, const char *to)
{
    cr_status st = CR_OK;
    cr_model *m = NULL;
    bool      in = kind == CLI_LIBSVM_MODEL;
    if (in ? !cli_ends_with(to, ".cred") : !cli_ends_with(to, ".model"))
        CR_TRY(fail_name(c, to, in ? ".cred" : ".model",
                         in ? "a model of credence" : "a model file of LIBSVM"));
    CR_TRY(in ? cr_model_read_libsvm(c->cx, c->args[0], &m) : cr_model_load(c->cx, c->args[0], &m));
    CR_TRY(cli_check_strict(c));
    CR_TRY(in ? cr_model_save(c->cx, m, to) : cr_model_write_libsvm(c->cx, m, to));
done:
    cr_model_free(c->cx, m);
    return st;
}
