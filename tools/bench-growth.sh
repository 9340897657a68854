#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# make bench-growth: how the cost of a frame grows with the FDEs of a file, the modules of a process,
# the depth of stacks and threads. Measures ROUNDS times, keeps each point's least, and writes
#
#   $EHU_BUILD/bench-growth/SWEEP.dat	one line a point: value, cached, uncached, row (ns)
#   $PLOTS/growth-SWEEP.svg		the plots, where gnuplot is installed
#
# ROUNDS	(3)
# PLOTS		folder of the plots (docs)
set -eu
cd "$(dirname "$0")/.."
build=${EHU_BUILD:-build}
dir=$build/bench-growth
plots=${PLOTS:-docs}
mkdir -p "$dir" "$plots"

for _ in $(seq "${ROUNDS:-3}"); do
	"$build/ehunwind-bench" --growth --json
done > "$dir/growth.json"

# Each sweep as a table, and what a curve of the expected form is: a + b log2(x), or a constant.
python3 - "$dir" <<'PY'
import collections
import json
import math
import os
import statistics
import sys

folder = sys.argv[1]
points = collections.defaultdict(lambda: collections.defaultdict(list))
with open(os.path.join(folder, 'growth.json')) as f:
    for line in f:
        o = json.loads(line)
        points[o['sweep']][o[o['sweep']]].append((o['cached_ps'], o['uncached_ps'], o['row_ps']))


def fitted(xs, ys):
    """Least squares: ys = a + b log2(xs)."""
    logs = [math.log2(x) for x in xs]
    mx, my = statistics.mean(logs), statistics.mean(ys)
    b = sum((l - mx) * (y - my) for l, y in zip(logs, ys)) / sum((l - mx) ** 2 for l in logs)
    return my - b * mx, b


print('least of %d rounds, load %.1f; ns of CPU a frame, a row' %
      (len(next(iter(next(iter(points.values())).values()))), os.getloadavg()[0]))
for sweep, values in points.items():
    xs = sorted(values)
    least = [[min(v[k] for v in values[x]) / 1000 for k in range(3)] for x in xs]
    print('\n%10s %10s %10s %10s' % (sweep, 'cached', 'uncached', 'row'))
    with open(os.path.join(folder, sweep + '.dat'), 'w') as out:
        out.write('# %s cached uncached row\n' % sweep)
        for x, ys in zip(xs, least):
            out.write('%d %.3f %.3f %.3f\n' % (x, *ys))
            print('%10d %10.1f %10.1f %10.1f' % (x, *ys))
    slopes = []
    for k, name in enumerate(('cached', 'uncached', 'row')):
        a, b = fitted(xs, [ys[k] for ys in least])
        slopes.append('%s %+.1f' % (name, b))
    print('%10s %s' % ('twice', ', '.join(slopes) + ' ns'))
PY

command -v gnuplot >/dev/null || {
	echo "bench-growth: no plots: gnuplot is not installed (tools/setup --all)" >&2
	exit 0
}

# plot SWEEP LABEL FORM EXPECTED FIT [COMMAND...]: FORM is the function of x that is fitted to the
# uncached curve where x is in the range FIT
plot() {
	local sweep=$1 label=$2 form=$3 expected=$4 fit=$5 name='"%.0f"' vars=a

	shift 5
	[ "$form" = a ] || { name='"%.0f %+.1f log2(x)"'; vars=a,b; }
	gnuplot <<-END
	set terminal svg size 560,380 font "sans,12" background "white"
	set output "$plots/growth-$sweep.svg"
	set title "ns of CPU, by $label\nexpected: $expected"
	set xlabel "$label"
	set ylabel "ns"
	set yrange [0:*]
	set key outside bottom center horizontal
	set grid ytics lc "#dddddd"
	$(printf '%s\n' "$@")
	f(x) = $form
	a = 50; b = 5
	set fit quiet logfile "/dev/null"
	fit $fit f(x) "$dir/$sweep.dat" using 1:3 via $vars
	plot "$dir/$sweep.dat" using 1:3 with linespoints pt 7 ps 0.6 lc "#c04000" title "uncached", \
	     f(x) with lines dt 2 lc "#c04000" title sprintf($name, a, b), \
	     "$dir/$sweep.dat" using 1:2 with linespoints pt 7 ps 0.6 lc "#0060a0" title "cached", \
	     "$dir/$sweep.dat" using 1:4 with linespoints pt 7 ps 0.6 lc "#408040" title "static, a row"
	END
}
log='a + b * log(x) / log(2)'
powers='set logscale x; set format x "10^{%L}"'
plot fdes "FDEs of a file" "$log" "uncached logarithmic, the others constant" "[*:1000000]" "$powers"
plot modules "modules of a process, 100 FDEs each" "$log" "uncached logarithmic, the others constant" \
	"[*:*]" "$powers"
plot depth "frames of a stack" a "constant" "[*:*]" "set logscale x"
plot threads "threads" a "constant" "[*:*]" "set xrange [0.5:8.5]"
echo
echo "plots: $plots/growth-{fdes,modules,depth,threads}.svg"
