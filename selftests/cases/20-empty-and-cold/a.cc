// SPDX-License-Identifier: GPL-2.0-only OR MIT
// gcc moves the throwing half to .text.unlikely: a second FDE that starts in mid-frame
#include <stdexcept>
#include <cstdio>
volatile int sink[64];
__attribute__((noinline)) int deep(int n) { sink[n & 63] = n; return n * 3; }
struct D { int v; ~D() { sink[v & 63]++; } };
__attribute__((noinline)) int split(int a, int b, int c)
{
  D d{a};
  int x = deep(a) + b, y = deep(b) + c, z = deep(c) + x;
  if (__builtin_expect(x == 12345, 0)) { printf("%d %d\n", y, z); throw std::runtime_error("x"); }
  return deep(x + y) + z;
}
int main(int c, char **) { return split(c, c + 1, c + 2) & 1; }
