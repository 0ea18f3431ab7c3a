/* test_notes.c -- texts in the plot area do not overlap and stay inside; units of equal length; colours that are seen. */
#include "wellformed.h"
#include "base/rng.h"
#include "plot/svg.h"

static cri_svg begin(cr_ctx *cx, double width, double height, double across, double up)
{
    return cri_svg_begin(cx, &(cri_svg_frame){ .width = width,
                                               .height = height,
                                               .title = "t",
                                               .description = "d",
                                               .x = { "x", -across, across, CR_REAL },
                                               .y = { "y", -up, up, CR_REAL },
                                               .equal = true });
}

TEST(equal_units)
{
    const double across[] = { 1, 1, 1e6, 1e-7, 3 }, up[] = { 1, 1000, 1, 1, 3.1 };
    for (size_t i = 0; i < 5; i++) {
        cri_svg s = begin(cx, 720, 500, across[i], up[i]);
        double  wide = (s.x_high - s.x_low) / s.area_width,
               high = (s.y_high - s.y_low) / s.area_height;
        assert_relative(wide, high, 5e-3);
        assert_true(s.x_low <= -across[i] && s.x_high >= across[i]);
        assert_true(s.y_low <= -up[i] && s.y_high >= up[i]);
        cri_svg_end(&s);
    }
}

typedef struct place {
    double x, y, width;
} place;

/* The texts that follow the beginning of the notes. */
static size_t read_notes(const char *svg, place *out)
{
    const char *p = strstr(svg, "paint-order");
    size_t      n = 0;
    while (p && (p = strstr(p, "<text x='"))) {
        char text[64];
        assert_int_equal(sscanf(p, "<text x='%lf' y='%lf'>%63[^<]", &out[n].x, &out[n].y, text), 3);
        out[n++].width = cri_svg_width(text, strlen(text), 12);
        p++;
    }
    return n;
}

static void check_apart(cr_ctx *cx, cri_svg *s, const cri_svg_note *notes, size_t n)
{
    char  path[256];
    place at[64];
    cri_svg_notes(s, notes, n);
    snprintf(path, sizeof path, "%s/notes.svg", test_directory());
    assert_ok(cx, cri_svg_save(s, path));
    char *svg = load_text(path);
    assert_wellformed(svg);
    assert_int_equal(read_notes(svg, at), n);
    for (size_t i = 0; i < n; i++) {
        assert_true(at[i].x - at[i].width / 2 > -1 &&
                    at[i].x + at[i].width / 2 < s->area_width + 1);
        assert_true(at[i].y > 10 && at[i].y < s->area_height);
        for (size_t j = 0; j < i; j++)
            assert_true(fabs(at[i].y - at[j].y) > 12 ||
                        fabs(at[i].x - at[j].x) > (at[i].width + at[j].width) / 2 - 1);
    }
    free(svg);
}

TEST(notes_do_not_overlap)
{
    for (uint64_t seed = 0; seed < 30; seed++)
        for (int side = CRI_SVG_AROUND; side <= CRI_SVG_BESIDE; side++) {
            cri_svg      s = begin(cx, 720, 720, 1, 1);
            cri_svg_note notes[14];
            char         text[14][32];
            cr_rng       r = cr_rng_stream(seed, (uint64_t)side);
            for (size_t i = 0; i < 14; i++) {
                snprintf(text[i], sizeof text[i], "name_%zu", i * i * i);
                notes[i] =
                    (cri_svg_note){ 1.6 * cr_rng_uniform(&r) - 0.8, 1.6 * cr_rng_uniform(&r) - 0.8,
                                    text[i], "#222222", (cri_svg_side)side };
                if (side == CRI_SVG_BESIDE) notes[i].x = 0.6, notes[i].y /= 3;
            }
            check_apart(cx, &s, notes, 14);
            cri_svg_end(&s);
        }
}

/* Relative luminance, WCAG 2.1. */
static double luminance(const char *colour)
{
    static const double part[] = { 0.2126, 0.7152, 0.0722 };
    double              sum = 0;
    unsigned            rgb[3];
    assert_int_equal(sscanf(colour, "#%2x%2x%2x", &rgb[0], &rgb[1], &rgb[2]), 3);
    for (size_t i = 0; i < 3; i++) {
        double c = rgb[i] / 255.0;
        sum += part[i] * (c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

TEST(colours_of_classes)
{
    (void)cx;
    for (size_t k = 0; k <= CRI_SVG_CLASSES; k++) {
        assert_true(1.05 / (luminance(cri_svg_class_colour(k)) + 0.05) >= 3); /* on white */
        for (size_t j = 0; j < k; j++)
            assert_string_not_equal(cri_svg_class_colour(j), cri_svg_class_colour(k));
    }
}
