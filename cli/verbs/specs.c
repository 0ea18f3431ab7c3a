/* specs.c -- models with settings of their own. */
#include "specs.h"
#include "base/list.h"

#include <stdio.h>
#include <string.h>

/* One setting from OPTION=VALUE. */
static cr_status read_own(cli *c, const char *spec, const cr_model_class *m, char *item,
                          cr_setting *out)
{
    char *equals = strchr(item, '=');
    if (!equals || equals == item) {
        cr_fail(c->cx, CR_EARG, "%s: '%s' is not OPTION=VALUE", spec, item);
        return cr_fail_hint(c->cx, "for example %s:scale=none", cr_class_name(m));
    }
    *equals = '\0';
    for (char *p = item; *p; p++)
        if (*p == '-') *p = '_';
    *out = (cr_setting){ item, equals + 1 };
    return CR_OK;
}

/* Options written as for fit, 'gp --kernel rbf': the same after a colon. */
static cr_status hint_colon(cli *c, const char *text)
{
    char name[64], option[64], value[256];
    int  n = sscanf(text, "%63[^ ] --%63[^ =]%*1[ =]%255[^\n]", name, option, value);
    if (n == 3)
        return cr_fail_hint(c->cx, "options of one model follow a colon: '%s:%s=%s'", name, option,
                            value);
    return strchr(text, ' ')
               ? cr_fail_hint(c->cx, "options of one model follow a colon: gp:kernel=rbf")
               : CR_EARG;
}

static cr_status read_spec(cli *c, cr_scratch *s, const char *text, cr_model_spec *out)
{
    cr_status             st = CR_OK;
    const char           *colon = strchr(text, ':');
    size_t                length = colon ? (size_t)(colon - text) : strlen(text), n_own = 0, n = 0;
    char                 *name = cr_scratch_bytes(s, length + 1, 1), **own = NULL;
    cr_setting           *all = NULL;
    const cr_model_class *m;

    CR_TRY(s->status);
    memcpy(name, text, length);
    m = cr_class_find(c->cx, name);
    if (!m) CR_TRY(hint_colon(c, text));
    if (colon) CR_TRY(cri_list_settings(s, colon + 1, &own, &n_own));
    all = cr_scratch_bytes(s, c->n_settings + n_own, sizeof *all);
    CR_TRY(s->status);
    for (size_t i = 0; i < c->n_settings; i++)
        if (cli_takes_setting(m, c->settings[i].name)) all[n++] = c->settings[i];
    for (size_t i = 0; i < n_own; i++) CR_TRY(read_own(c, text, m, own[i], &all[n++]));
    *out = (cr_model_spec){ name, all, n };
    CR_TRY(cr_check_settings(c->cx, name, all, n));
done:
    return st;
}

/* An option that no model has would be lost without a word. */
static cr_status check_common(cli *c, const cr_model_spec *specs, size_t n)
{
    for (size_t i = 0; i < c->n_settings; i++) {
        bool taken = false;
        char flag[64];
        for (size_t k = 0; k < n && !taken; k++)
            taken = cli_takes_setting(cr_class_find(c->cx, specs[k].model), c->settings[i].name);
        if (!taken)
            return cr_fail(c->cx, CR_EARG, "none of the models has an option --%s",
                           cli_spell(c->settings[i].name, flag));
    }
    return CR_OK;
}

cr_status specs_read(cli *c, cr_scratch *s, size_t first, size_t last, cr_model_spec **out)
{
    cr_status      st = CR_OK;
    cr_model_spec *specs = cr_scratch_bytes(s, last - first, sizeof *specs);
    CR_TRY(s->status);
    for (size_t k = first; k < last; k++) CR_TRY(read_spec(c, s, c->args[k], &specs[k - first]));
    CR_TRY(check_common(c, specs, last - first));
    *out = specs;
done:
    return st;
}
