// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* ehunwind-dump: print the rows of a file, of some addresses, or a walk over a made-up stack. */
#include <stdlib.h>
#include <string.h>

#include "harness/cli.h"
#include "harness/dump_file.h"
#include "harness/dump_place.h"
#include "harness/dump_walk.h"
#include "harness/json.h"

enum { OPT_PC, OPT_RA, OPT_WALK, OPT_FP, OPT_JSON };

static const struct cli_opt opts[] = {
	[OPT_PC] = { "pc", 'p', "ADDR", "the row of one address: 0xADDR, symbol+0xOFF or\n"
		     ".section+0xOFF; may be repeated" },
	[OPT_RA] = { "ra", 'r', NULL, "addresses are return addresses: look up ADDR - 1" },
	[OPT_WALK] = { "walk", 'w', "STACK", "walk a made-up stack: 'pc=main+0x5 rsp=1000\n"
		       "mem=1000:WORD,WORD..', numbers in hex; may be repeated" },
	[OPT_FP] = { "fp", 0, NULL, "--walk follows frame pointers where there is no FDE" },
	[OPT_JSON] = { "json", 0, NULL, "one JSON object a line on stdout" },
	{ 0 }
};

static const struct cli cli = {
	.prog = "ehunwind-dump",
	.usage = "[OPTION]... FILE",
	.about = "Print what ehunwind makes of the call frame information of an ELF file.",
	.opts = opts,
	.footer = "Exit status: 0 printed, 2 usage, 3 the file cannot be used, 4 not possible here.",
};

/* What is asked, in order. */
struct request {
	int opt;
	const char *text;
};

struct args {
	struct request *req;
	size_t nr;
	bool ra;
	bool fp;
	bool json;
};

static int on_option(int idx, const char *value, void *arg)
{
	struct args *a = arg;
	struct request *grown;

	switch (idx) {
	case OPT_RA:
		a->ra = true;
		return 0;
	case OPT_FP:
		a->fp = true;
		return 0;
	case OPT_JSON:
		a->json = true;
		return 0;
	}
	grown = reallocarray(a->req, a->nr + 1, sizeof(*a->req));
	if (!grown)
		return cli_error(&cli, "out of memory");
	a->req = grown;
	a->req[a->nr++] = (struct request){ idx, value };
	return 0;
}

/* An error is an object too where objects were asked for. */
static int fail(const struct args *a, enum cli_status status, const char *kind, const char *text)
{
	if (a->json) {
		struct json j;

		json_begin(&j, stdout, "error");
		json_text(&j, "error", kind);
		json_text(&j, "text", text);
		json_end(&j);
	}
	fprintf(stderr, "%s: %s\n", cli.prog, text);
	return status;
}

/* Names are resolved before anything is printed: a typing error costs no half output. */
static int answer(const struct args *a, const struct dump *d)
{
	struct dump_walk **walk = calloc(a->nr, sizeof(struct dump_walk *));
	u64 *addr = calloc(a->nr, sizeof(*addr));
	int status = CLI_STATUS_OK;
	char why[1024];

	if (!walk || !addr)
		status = fail(a, CLI_STATUS_IMPOSSIBLE, "no-memory", "out of memory");
	for (size_t i = 0; i < a->nr && !status; i++) {
		const char *text = a->req[i].text;

		if (a->req[i].opt == OPT_WALK) {
			walk[i] = dump_walk_parse(d->img, text, why, sizeof(why));
			if (!walk[i])
				status = fail(a, CLI_STATUS_USAGE, "usage", why);
		} else if (!dump_place(d->img, text, strlen(text), &addr[i], why, sizeof(why))) {
			status = fail(a, CLI_STATUS_USAGE, "usage", why);
		}
	}
	for (size_t i = 0; i < a->nr && !status; i++) {
		if (a->req[i].opt == OPT_PC)
			dump_row_one(d, addr[i], a->ra ? addr[i] - 1 : addr[i]);
		else if (!dump_walk_run(d, walk[i], a->fp))
			status = fail(a, CLI_STATUS_IMPOSSIBLE, "no-memory", "out of memory");
	}
	for (size_t i = 0; walk && i < a->nr; i++)
		dump_walk_free(walk[i]);
	free(walk);
	free(addr);
	return status;
}

int main(int argc, char **argv)
{
	struct args a = { 0 };
	struct dump d = { .out = stdout };
	struct image_error err;
	int status, first = cli_parse(&cli, argc, argv, on_option, &a);

	if (first == CLI_HELP)
		return CLI_STATUS_OK;
	if (first == CLI_ERROR)
		return CLI_STATUS_USAGE;
	if (argc - first != 1) {
		cli_error(&cli, argc == first ? "no file is named" : "only one file at a time");
		return CLI_STATUS_USAGE;
	}
	d.json = a.json;
	if (image_open(argv[first], &d.img, &err)) {
		status = fail(&a, CLI_STATUS_INPUT, image_status_name(err.status), err.text);
	} else if (a.nr) {
		status = answer(&a, &d);
	} else {
		status = dump_file(&d) ? CLI_STATUS_OK :
			 fail(&a, CLI_STATUS_IMPOSSIBLE, "no-memory", "out of memory");
	}
	if (!status && image_changed(d.img))
		status = fail(&a, CLI_STATUS_INPUT, "truncated", "the file shrank while it was read");
	image_close(d.img);
	free(a.req);
	if (fflush(stdout) || ferror(stdout))
		status = fail(&a, CLI_STATUS_IMPOSSIBLE, "output", "cannot write the output");
	return status;
}
