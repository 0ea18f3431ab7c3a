#!/bin/sh
# demo.sh PROGRAM -- the main job, from data to a judged prediction, on data that ships with the project.
# Writes only under build/demo.  `make demo` runs it; it works from any directory.
set -eu

[ $# -eq 1 ] || { echo "usage: demo.sh PROGRAM" >&2; exit 2; }
program=$(CDPATH='' cd -- "$(dirname -- "$1")" && pwd)/$(basename -- "$1")
[ -x "$program" ] || { echo "demo: $1 is not a program; 'make' builds it" >&2; exit 1; }
cd -- "$(dirname -- "$0")/.."
mkdir -p build/demo

credence() { "$program" "$@"; }
say() { printf '\n# %s\n' "$1"; }
run() { printf '$ %s\n' "$1"; eval "$1"; }

say 'The data: 442 people with diabetes, and how far it had progressed a year later.'
run 'credence describe examples/diabetes.csv --format text'

say 'The last 100 people are set aside; the model will not see them.'
run 'head -n 343 examples/diabetes.csv >build/demo/train.csv'
run "awk 'NR == 1 || NR > 343' examples/diabetes.csv >build/demo/test.csv"

say 'Bayesian linear regression: each coefficient with its uncertainty, and the evidence.'
run 'credence fit bayes-linear build/demo/train.csv --target progression --format text -o build/demo/model.cred'

say 'A prediction is a distribution: mean, standard deviation, and where 90 % of it lies.'
run 'credence predict build/demo/model.cred build/demo/test.csv --interval 0.9 -o build/demo/predictions.csv'
run 'head -n 4 build/demo/predictions.csv'

say 'Was it as good, and as sure, as it should be?  On the 100 people set aside:'
run 'credence evaluate build/demo/model.cred build/demo/test.csv --interval 0.9 --format text'

say 'Does a penalty help on these data?  Ten-fold cross-validation, with standard errors:'
run 'credence cv linear examples/diabetes.csv --target progression --format text'
run 'credence cv ridge examples/diabetes.csv --target progression --lambda 10 --format text'
echo 'They differ by far less than the standard error: on these data a penalty hardly matters.'

say 'A figure: observed against predicted for the 100 people, with their 90 % intervals.'
run 'credence plot build/demo/model.cred build/demo/test.csv --interval 0.9 -o build/demo/fit.svg'

say 'Another job: carbon dioxide in the air over Mauna Loa, every fifth month from 1959 to 1997, in parts per million.'
echo '# A Gaussian process of three terms: a season of one year whose shape may drift, slow swings, and weather;'
echo '# below them a trend, a parabola.  All lengths and strengths are learned from the data.'
run "awk 'NR == 1 || NR % 5 == 2' examples/co2.csv >build/demo/co2.csv"
run "credence fit gp build/demo/co2.csv --target co2_ppm --mean poly:2 --format text -o build/demo/co2.cred \\
    --kernel 'rbf*periodic(p=1 fixed) + rbf + matern32'"

say 'A forecast of the twenty years after the last row, with a band; and what each term contributes.'
run 'credence plot build/demo/co2.cred build/demo/co2.csv --range 1985,2018 -o build/demo/co2.svg'
run 'credence plot build/demo/co2.cred build/demo/co2.csv --kind components -o build/demo/co2-parts.svg'

say 'The months of 2017, twenty years on: the mean of the year was to be 406.8 (NOAA).'
run "awk 'BEGIN { print \"year\"; for (m = 0; m < 12; m++) printf \"%.4f\\n\", 2017 + m / 12 }' >build/demo/2017.csv"
run "credence predict build/demo/co2.cred build/demo/2017.csv -o build/demo/forecast.csv"
run "awk -F, 'NR > 1 { m += \$1 / 12; s += \$2 / 12 } END { printf \"2017: %.1f, give or take %.1f\\n\", m, s }' build/demo/forecast.csv"

say 'Done. In build/demo:'
for file in train.csv test.csv model.cred predictions.csv fit.svg co2.cred co2.svg co2-parts.svg forecast.csv; do
    [ -s "build/demo/$file" ] || { echo "demo: $file is missing" >&2; exit 1; }
done
printf '  %-18s%s\n' fit.svg 'the figure; a web browser shows it' \
    model.cred 'the model; credence describe build/demo/model.cred' \
    predictions.csv 'a distribution for each of the 100 people' \
    co2.svg 'carbon dioxide until 2018, with a band' \
    co2-parts.svg 'trend, season, swings and weather, one by one'
