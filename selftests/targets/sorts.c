// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Callbacks through libc (qsort, bsearch), alloca and arrays of variable length, compiled
 * without frame pointers.
 */
#include <alloca.h>
#include <string.h>

#include "target.h"

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	target_spin(3);
	return (x > y) - (x < y);
}

static __attribute__((noinline)) int variable(int n)
{
	int array[n], *copy = alloca((size_t)n * sizeof(int)), key = n / 2;

	for (int k = 0; k < n; k++)
		array[k] = (k * 7919) % n;
	memcpy(copy, array, (size_t)n * sizeof(int));
	qsort(copy, (size_t)n, sizeof(int), compare);
	return bsearch(&key, copy, (size_t)n, sizeof(int), compare) ? copy[n - 1]
	       : n > 3						    ? variable(n / 2)
								    : 0;
}

int main(int argc, char **argv)
{
	long until = target_until(argc, argv);

	for (int n = 1; target_ms() < until; n = n % 400 + 1)
		target_sum += (unsigned long)variable(n);
	return 0;
}
