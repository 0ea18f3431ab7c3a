/* parameters.c -- rows of the list of parameters. */
#include "parameters.h"

#include <stdarg.h>

cri_sheet *cri_parameter_add(cri_sheet *list, double value, double sd, const char *name, ...)
{
    cri_sheet *row = cri_put_object(list, NULL);
    va_list    args;
    va_start(args, name);
    cri_put_text_list(row, "name", name, args);
    va_end(args);
    cri_put_real(row, "value", value);
    cri_put_real(row, "sd", sd);
    return row;
}

void cri_parameter_interval(cri_sheet *row, double value, double half)
{
    cri_put_real(row, "lower", value - half);
    cri_put_real(row, "upper", value + half);
}
