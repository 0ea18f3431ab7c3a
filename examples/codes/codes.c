/* codes.c -- sending bits through a noisy channel: how often do codes fail, by theory and by trial?
 *   cc codes.c $(pkg-config --cflags --libs credence) -lm -o codes
 *   ./codes [f [trials]]
 * The channel flips each bit with probability f.  The repetition code R_n sends a bit n times, n
 * odd, and the receiver takes the majority.  The Hamming (7,4) code adds three parity bits to four;
 * the syndrome, which parities fail, names the bit that was flipped, if it was one.  A block that
 * comes out wrong anywhere counts as an error. MacKay (2003), Information Theory, Inference, and
 * Learning Algorithms, sec. 1.2. */
#include <credence/math.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- repetition ------------------------------------------------------------------------------ */

/* P(more than half of n bits are flipped). */
static double majority_error(unsigned n, double f)
{
    double p = 0;
    for (unsigned k = n / 2 + 1; k <= n; k++)
        p += exp(cr_lchoose(n, k)) * pow(f, k) * pow(1 - f, n - k);
    return p;
}

static bool repetition_fails(unsigned n, double f, cr_rng *r)
{
    unsigned flips = 0;
    for (unsigned i = 0; i < n; i++) flips += cr_rng_uniform(r) < f;
    return flips > n / 2;
}

/* --- Hamming (7,4) --------------------------------------------------------------------------- */

/* Bits s1 s2 s3 s4 t5 t6 t7 from the lowest; each parity covers its t and three of the s. */
static const unsigned parity[3] = { 0x17, 0x2E, 0x4D }; /* s1 s2 s3 t5, s2 s3 s4 t6, s1 s3 s4 t7 */

static unsigned is_odd(unsigned bits)
{
    unsigned odd = 0;
    for (; bits; bits &= bits - 1) odd ^= 1;
    return odd;
}

static unsigned hamming_encode(unsigned s)
{
    unsigned t = s;
    for (unsigned i = 0; i < 3; i++) t |= is_odd(s & parity[i]) << (4 + i);
    return t;
}

static unsigned syndrome(unsigned received)
{
    unsigned z = 0;
    for (unsigned i = 0; i < 3; i++) z |= is_odd(received & parity[i]) << i;
    return z;
}

/* Flips back the one bit whose parities are those that fail. */
static unsigned hamming_decode(unsigned received)
{
    unsigned z = syndrome(received);
    for (unsigned bit = 0; z && bit < 7; bit++)
        if (syndrome(1u << bit) == z) received ^= 1u << bit;
    return received & 15;
}

/* How many of the 16 x (1 + 7) words with at most one flip come out right: all of them. */
static unsigned count_corrected(void)
{
    unsigned right = 0;
    for (unsigned s = 0; s < 16; s++) {
        right += hamming_decode(hamming_encode(s)) == s;
        for (unsigned bit = 0; bit < 7; bit++)
            right += hamming_decode(hamming_encode(s) ^ 1u << bit) == s;
    }
    return right;
}

/* P(two flips or more): the code is perfect, no pattern of two or more is undone. */
static double hamming_error(double f) { return 1 - pow(1 - f, 7) - 7 * f * pow(1 - f, 6); }

static bool hamming_fails(unsigned n, double f, cr_rng *r)
{
    (void)n;
    unsigned s = (unsigned)cr_rng_below(r, 16), noise = 0;
    for (unsigned bit = 0; bit < 7; bit++) noise |= (unsigned)(cr_rng_uniform(r) < f) << bit;
    return hamming_decode(hamming_encode(s) ^ noise) != s;
}

/* --- the table ------------------------------------------------------------------------------- */

typedef bool fails_fn(unsigned n, double f, cr_rng *r);

/* Trials of one code, with the standard error of the share that fails. */
static void show(const char *name, double rate, double theory, fails_fn *fails, unsigned n,
                 double f, size_t trials)
{
    cr_rng r = cr_rng_stream(0, (uint64_t)(1000 * rate));
    size_t failed = 0;
    for (size_t i = 0; i < trials; i++) failed += fails(n, f, &r);
    double share = (double)failed / (double)trials;
    double se = sqrt(theory * (1 - theory) / (double)trials);
    printf("%-12s  %5.3f  %9.4g  %9.4g  %8.2g  %5.1f\n", name, rate, theory, share, se,
           (share - theory) / se);
}

int main(int argc, char **argv)
{
    double f = argc > 1 ? atof(argv[1]) : 0.1, trials = argc > 2 ? atof(argv[2]) : 200000;
    if (!(f > 0 && f < 0.5) || !(trials >= 1 && trials <= 1e9)) {
        fprintf(stderr, "usage: codes [f [trials]], 0 < f < 0.5\n");
        return 2;
    }
    printf("binary symmetric channel, f = %g: capacity %.4f bits per bit sent\n", f,
           1 - cr_entropy_binary_nats(f) / log(2));
    printf("Hamming (7,4) decodes %u of 128 words with at most one flip\n\n", count_corrected());
    printf("code           rate     theory     trials        se      z\n");
    for (unsigned n = 1; n <= 9; n += 2) {
        char name[16];
        snprintf(name, sizeof name, "R%u", n);
        show(name, 1.0 / n, majority_error(n, f), repetition_fails, n, f, (size_t)trials);
    }
    show("Hamming(7,4)", 4.0 / 7, hamming_error(f), hamming_fails, 7, f, (size_t)trials);
    printf("\nR3 in closed form: 3 f^2 (1 - f) + f^3 = %.6f\n", 3 * f * f * (1 - f) + f * f * f);
    return count_corrected() == 128 ? 0 : 1;
}
