// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Do the HTML page and the folded stacks show what they were given, and only that? Names that
 * try to be markup, or to end a stack, stay names.
 */
#include "harness/report_html.h"
#include "selftests/lib/symbols_build.h"

static const struct report_folded_frame deep[] = {
	{ "leaf", "/bin/a", REPORT_FOLDED_INLINED }, { "work", "/bin/a", 0 },
	{ "main", "/bin/a", 0 }, { "_start", "/bin/a", 0 },
};

static const struct report_folded_frame odd[] = {
	{ "a;b\nc 7", "/lib/x", REPORT_FOLDED_FALLBACK },
	{ "</text><script>alert(1)</script>", "\"'&", REPORT_FOLDED_GUESSED },
};

static char *text_of(FILE *f, char **text)
{
	fclose(f);
	return *text;
}

TEST(folded)
{
	struct report_folded *f = report_folded_new();
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	EXPECT_TRUE(report_folded_add(f, "prog", deep, 4, NULL, 3));
	EXPECT_TRUE(report_folded_add(f, "prog", deep + 1, 3, NULL, 2));
	EXPECT_TRUE(report_folded_add(f, "prog", deep, 4, NULL, 1));
	EXPECT_TRUE(report_folded_add(f, "prog", odd, 2, "no-fde", 1));
	EXPECT_TRUE(report_folded_add(f, "idle", NULL, 0, NULL, 5));
	EXPECT_TRUE(report_folded_write(f, out));
	EXPECT_STREQ("idle 5\n"
		     "prog;[truncated: no-fde];</text><script>alert(1)</script> [guess];"
		     "a\\x3bb\\x0ac 7 [fallback] 1\n"
		     "prog;_start;main;work 2\n"
		     "prog;_start;main;work;leaf_[i] 4\n", text_of(out, &text));
	EXPECT_EQ(12, report_folded_root(f)->total);
	report_folded_free(f);
	free(text);
}

/* The totals of every level are the sums of what is below, whatever comes. */
static u64 check_sums(const struct report_folded_node *n)
{
	u64 sum = n->self;

	for (const struct report_folded_node *c = n->child; c; c = c->next)
		sum += check_sums(c);
	EXPECT_EQ(n->total, sum);
	return n->total;
}

TEST(many_stacks)
{
	struct report_folded *f = report_folded_new();
	struct report_folded_frame frame[20];
	char name[20][8];
	unsigned int seed = 7;

	for (int i = 0; i < 20000; i++) {
		u32 nr = 1 + (seed >> 16) % 20;

		for (u32 k = 0; k < nr; k++) {
			seed = seed * 1103515245 + 12345;
			snprintf(name[k], sizeof(name[k]), "f%u", (seed >> 16) % 4);
			frame[k] = (struct report_folded_frame){ name[k], "m", (seed >> 20) % 3 };
		}
		ASSERT_TRUE(report_folded_add(f, i % 2 ? "a" : "b", frame, nr, NULL, 1));
	}
	EXPECT_EQ(20000, check_sums(report_folded_root(f)));
	report_folded_free(f);
}

TEST(deeper_than_the_limit)
{
	struct report_folded_frame *frame = calloc(10000, sizeof(*frame));
	struct report_folded *f = report_folded_new();
	FILE *null = fopen("/dev/null", "w");

	for (int i = 0; i < 10000; i++)
		frame[i] = (struct report_folded_frame){ "again", "", 0 };
	EXPECT_TRUE(report_folded_add(f, "t", frame, 10000, "trace-full", 1));
	EXPECT_EQ(10000 - (REPORT_FOLDED_DEPTH - 3), report_folded_cut(f));
	report_html_flame(f, null);
	EXPECT_TRUE(report_folded_write(f, null));
	fclose(null);
	report_folded_free(f);
	free(frame);
}

FIXTURE(page) { struct report_folded *stacks; char *text; size_t size; };

FIXTURE_SETUP(page)
{
	static const char *const head[] = { "outcome", "samples" };
	static const char *const cells[] = { "equal", "11", "different <b>", "1" };
	static const char *const ours[] = { "leaf", "main" }, *const theirs[] = { "leaf", "other", "x" };
	static const char *const about[] = { "ehunwind-check -- ./prog <&>" };
	const struct report_html_table table = {
		.title = "Outcomes", .head = head, .columns = 2, .cell = cells, .rows = 2, .numbers = 2,
		.bad = 2,
	};
	const struct report_html_diff diff = {
		.title = "sample 4: different", .ours = ours, .nr_ours = 2, .theirs = theirs,
		.nr_theirs = 3, .parted = 1, .ours_end = "stopped: no-fde", .theirs_end = "complete",
	};
	struct report_html page = {
		.title = "ehunwind-check", .verdict = "1 of 12 traces differs", .failed = true,
		.about = about, .nr_about = 1, .table = &table, .nr_tables = 1, .diff = &diff,
		.nr_diffs = 1, .diffs_left_out = 2,
	};
	FILE *out = open_memstream(&self->text, &self->size);

	self->stacks = report_folded_new();
	report_folded_add(self->stacks, "prog", deep, 4, NULL, 10);
	report_folded_add(self->stacks, "<prog>", odd, 2, "no-fde", 2);
	page.stacks = self->stacks;
	EXPECT_TRUE(report_html_write(&page, out));
	fclose(out);
}

FIXTURE_TEARDOWN(page)
{
	report_folded_free(self->stacks);
	free(self->text);
}

TEST_F(page, shows_what_it_was_given)
{
	static const char *const want[] = {
		"<p class=\"verdict bad\">1 of 12 traces differs</p>", "<h2>Outcomes</h2>",
		"<td>different &lt;b&gt;</td><td class=\"n bad\">1</td>", "<td>leaf</td><td>leaf</td>",
		"<tr class=\"parted\"><td class=\"no\">1</td><td>main</td><td>other</td></tr>",
		"<td>stopped: no-fde</td><td>complete</td>", "2 more are not shown",
		"work in /bin/a: 10 samples, 83.33%", "leaf in /bin/a: 10 samples, 83.33%, inlined",
		"[truncated: no-fde]: 2 samples", "url(#fallback)", "<svg id=\"flame\"",
		"./prog &lt;&amp;&gt;",
	};

	for (size_t i = 0; i < EHF_ARRAY_SIZE(want); i++)
		EXPECT_NE(NULL, strstr(self->text, want[i])) {
			TH_LOG("%s", want[i]);
		}
}

TEST_F(page, fetches_and_runs_nothing)
{
	const char *p = self->text;

	EXPECT_NULL(strcasestr(self->text, "<script"));
	EXPECT_NULL(strcasestr(self->text, "src="));
	EXPECT_NULL(strcasestr(self->text, "@import"));
	EXPECT_NULL(strcasestr(self->text, "onload"));
	EXPECT_NE(NULL, strstr(self->text, "default-src 'none'"));
	/* The one address is a name of the SVG language. */
	while ((p = strstr(p, "http")) != NULL && !strncmp(p, "http-equiv", 10))
		p++;
	ASSERT_NE(NULL, p);
	EXPECT_EQ(0, strncmp(p, "http://www.w3.org/2000/svg\"", 27));
	EXPECT_NULL(strstr(p + 1, "http"));
}

/* Tags open and close in order, as XML's parser sees them. */
TEST_F(page, is_well_formed)
{
	static const char script[] =
		"import html.parser, sys\n"
		"class P(html.parser.HTMLParser):\n"
		"    stack = []\n"
		"    def handle_starttag(self, tag, attrs):\n"
		"        if tag not in ('meta', 'link'): self.stack.append(tag)\n"
		"    def handle_endtag(self, tag):\n"
		"        assert self.stack and self.stack.pop() == tag, (tag, self.getpos())\n"
		"p = P(); p.feed(open('page.html').read()); p.close()\n"
		"assert not p.stack, p.stack\n";

	build_enter();
	ASSERT_TRUE(build_write("page.html", self->text));
	ASSERT_TRUE(build_write("check.py", script));
	EXPECT_TRUE(build_try("python3 check.py"));
	build_remove();
}

TEST(empty_page)
{
	struct report_html page = { .title = "t", .verdict = "nothing compared" };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	page.stacks = report_folded_new();
	EXPECT_TRUE(report_html_write(&page, out));
	fclose(out);
	EXPECT_NE(NULL, strstr(text, "No stack was sampled."));
	report_folded_free(page.stacks);
	free(text);
}

TEST(full_disk)
{
	struct report_html page = { .title = "t", .verdict = "v" };
	FILE *full = fopen("/dev/full", "w");

	ASSERT_NE(NULL, full);
	EXPECT_FALSE(report_html_write(&page, full));
	fclose(full);
}

TEST_HARNESS_MAIN
