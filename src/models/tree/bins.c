/* bins.c -- cutting ranks into bins of about equal weight, and the codes of rows in groups. */
#include "bins.h"

#include <string.h>

size_t cri_bins_cut(const double *w, size_t ranks, size_t most, uint32_t *last)
{
    size_t bins = 0;
    double left = 0, here = 0;
    if (ranks <= most) {
        for (size_t r = 0; r < ranks; r++) last[r] = (uint32_t)r;
        return ranks;
    }
    for (size_t r = 0; r < ranks; r++) left += w[r];
    double share = left / (double)most;
    for (size_t r = 0; r < ranks; r++) {
        if (here > 0 && bins + 1 < most && here + w[r] / 2 > share) {
            last[bins++] = (uint32_t)(r - 1);
            left -= here;
            here = 0;
            share = left / (double)(most - bins);
        }
        here += w[r];
    }
    last[bins++] = (uint32_t)(ranks - 1);
    return bins;
}

/* Columns in bytes first, spread evenly over as few groups as hold them; then the wide ones. */
static void deal_columns(cri_bins *b)
{
    size_t at = 0, narrow = 0;
    for (size_t wide = 0; wide < 2; wide++) {
        for (size_t j = 0; j < b->p; j++)
            if ((b->count[j] > CRI_NARROW_BINS) == (wide == 1)) b->order[at++] = j;
        if (wide == 0) narrow = at;
    }
    size_t groups = (narrow + CRI_GROUP_MOST - 1) / CRI_GROUP_MOST;
    for (size_t g = 0; g < b->groups; g++) {
        cri_bin_group *group = &b->group[g];
        size_t         end = g < groups ? (g + 1) * narrow / groups : narrow + g - groups + 1;
        group->first = g < groups ? g * narrow / groups : end - 1;
        group->width = end - group->first;
        for (size_t k = group->first; k < end; k++) {
            b->place[b->order[k]] = k;
            b->member[b->order[k]] = g;
        }
    }
}

static size_t count_groups(const cri_bins *b)
{
    size_t narrow = 0;
    for (size_t j = 0; j < b->p; j++) narrow += b->count[j] <= CRI_NARROW_BINS;
    return (narrow + CRI_GROUP_MOST - 1) / CRI_GROUP_MOST + (b->p - narrow);
}

cr_status cri_bins_group(cr_ctx *cx, cri_bins *b)
{
    b->groups = count_groups(b);
    b->offset = cr_alloc(cx, b->p, sizeof *b->offset);
    b->order = cr_alloc(cx, b->p, sizeof *b->order);
    b->place = cr_alloc(cx, b->p, sizeof *b->place);
    b->member = cr_alloc(cx, b->p, sizeof *b->member);
    b->group = cr_alloc(cx, b->groups, sizeof *b->group);
    if (!b->offset || !b->order || !b->place || !b->member || !b->group) return CR_ENOMEM;
    deal_columns(b);
    for (size_t k = 0; k < b->p; k++) { /* the cells of a group stand together */
        b->offset[b->order[k]] = b->cells;
        b->cells += b->count[b->order[k]] + 1;
    }
    for (size_t g = 0; g < b->groups; g++) {
        cri_bin_group *group = &b->group[g];
        bool           wide = b->count[b->order[group->first]] > CRI_NARROW_BINS;
        if (wide)
            group->wide = cr_alloc(cx, b->n, sizeof *group->wide);
        else
            group->narrow = cr_alloc(cx, b->n, group->width);
        if (!group->wide && !group->narrow) return CR_ENOMEM;
    }
    return CR_OK;
}

void cri_bins_store(cri_bins *b, size_t column, const uint32_t *codes)
{
    cri_bin_group *g = &b->group[b->member[column]];
    size_t         at = b->place[column] - g->first;
    if (g->wide)
        memcpy(g->wide, codes, b->n * sizeof *codes);
    else
        for (size_t i = 0; i < b->n; i++) g->narrow[i * g->width + at] = (uint8_t)codes[i];
}

void cri_bins_free(cr_ctx *cx, cri_bins *b)
{
    for (size_t g = 0; b->group && g < b->groups; g++) {
        cr_free(cx, b->group[g].narrow, b->n, b->group[g].width);
        cr_free(cx, b->group[g].wide, b->n, sizeof(uint32_t));
    }
    for (size_t j = 0; b->last && j < b->p; j++)
        if (b->last[j]) cr_free(cx, b->last[j], b->most, sizeof(uint32_t));
    cr_free(cx, b->group, b->groups, sizeof *b->group);
    cr_free(cx, b->member, b->p, sizeof *b->member);
    cr_free(cx, b->place, b->p, sizeof *b->place);
    cr_free(cx, b->order, b->p, sizeof *b->order);
    cr_free(cx, b->offset, b->p, sizeof *b->offset);
    cr_free(cx, b->last, b->p, sizeof *b->last);
    cr_free(cx, b->count, b->p, sizeof *b->count);
    *b = (cri_bins){ 0 };
}
