// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Opens and closes plug-ins in turn, which land at one address: ranges that one file after
 * another uses, and lazy binding each time.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "target.h"

static int back(int n)
{
	target_spin(500);
	return n;
}

int main(int argc, char **argv)
{
	long until = target_until(argc, argv);

	if (argc < 3)
		return 2;
	for (int k = 0; target_ms() < until; k++) {
		void *lib = dlopen(argv[2 + k % (argc - 2)], RTLD_LAZY);
		int (*plug)(int (*)(int), int);

		if (!lib) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		plug = (int (*)(int (*)(int), int))dlsym(lib, "plug");
		for (int n = 0; n < 40; n++)
			target_sum += (unsigned long)plug(back, n % 20);
		dlclose(lib);
	}
	return 0;
}
