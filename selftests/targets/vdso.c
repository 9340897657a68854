// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Writes its own vDSO to standard output: that of the kernel that it runs on.
 */
#include <stdio.h>
#include <sys/auxv.h>

int main(void)
{
	unsigned long at = getauxval(AT_SYSINFO_EHDR), start, end;
	char line[512];
	FILE *f = fopen("/proc/self/maps", "r");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx", &start, &end) == 2 && start == at)
			return fwrite((void *)at, end - start, 1, stdout) != 1;
	}
	return 1;
}
