// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Little but calls through the lazy PLT, so that many samples hit its stubs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "target.h"

int main(int argc, char **argv)
{
	long until = target_until(argc, argv);
	double x = 1;
	char text[8] = "-17";

	while (target_ms() < until)
		for (int k = 0; k < 5000; k++) {
			x += floor(x) - trunc(x) + rint(x) - x;
			target_sum += strlen(text) + (unsigned long)atol(text);
			text[1] = (char)('0' + k % 10);
			x = fabs(x) > 9 ? 1 : x + 1;
		}
	return 0;
}
