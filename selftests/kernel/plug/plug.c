// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A library with one function that calls back: loaded by ld.so, or mapped by hand and unmapped
 * again piece by piece. It has no relocations.
 */
long plug(long (*fn)(void *arg), void *arg);

long plug(long (*fn)(void *arg), void *arg)
{
	return fn(arg) + 1;
}
