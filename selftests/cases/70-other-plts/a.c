// SPDX-License-Identifier: GPL-2.0-only OR MIT
int far(int);
int near(int n)
{
	return far(n) + 1;
}
