// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * C++ exceptions thrown through frames with destructors, caught, rethrown.
 */
#include <map>
#include <stdexcept>
#include <string>

#include "target.h"

namespace {

struct guard {
	std::string name;
	explicit guard(int k) : name("guard number " + std::to_string(k)) {}
	~guard() { target_sum += name.size(); }
};

__attribute__((noinline)) int deep(int depth)
{
	guard g(depth);

	if (!depth)
		throw std::runtime_error(g.name);
	try {
		return deep(depth - 1) + 1;
	} catch (const std::logic_error &) {
		return 0;
	} catch (const std::runtime_error &e) {
		if (depth % 3)
			throw;
		throw std::runtime_error(std::string(e.what()) + "!");
	}
}

} // namespace

int main(int argc, char **argv)
{
	long until = target_until(argc, argv);
	std::map<std::string, int> seen;

	while (target_ms() < until) {
		for (int k = 0; k < 12; k++) {
			try {
				deep(k);
			} catch (const std::exception &e) {
				seen[e.what()]++;
			}
		}
	}
	return seen.empty();
}
