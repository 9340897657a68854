// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* JSON lines: commas, nesting, and escapes for any bytes. */
#include "harness/json.h"
#include "selftests/kselftest_harness.h"

static const char *text_of(const char *value)
{
	static char *out;
	size_t len;
	struct json j;
	FILE *f;

	free(out);
	f = open_memstream(&out, &len);
	json_begin(&j, f, "t");
	json_text(&j, "s", value);
	json_end(&j);
	fclose(f);
	return out;
}

TEST(all_members)
{
	char *out = NULL;
	size_t len;
	struct json j;
	FILE *f = open_memstream(&out, &len);

	json_begin(&j, f, "row");
	json_addr(&j, "pc", 0x401000);
	json_number(&j, "n", UINT64_MAX);
	json_signed(&j, "off", -8);
	json_bool(&j, "yes", true);
	json_null(&j, "none");
	json_open(&j, "in");
	json_close(&j);
	json_open_list(&j, "list");
	json_number(&j, NULL, 1);
	json_number(&j, NULL, 2);
	json_close_list(&j);
	json_text(&j, "nil", NULL);
	json_end(&j);
	fclose(f);
	EXPECT_STREQ("{\"v\":1,\"type\":\"row\",\"pc\":\"0x401000\",\"n\":18446744073709551615,"
		     "\"off\":-8,\"yes\":true,\"none\":null,\"in\":{},\"list\":[1,2],"
		     "\"nil\":null}\n", out);
	free(out);
}

#define LINE(s)	"{\"v\":1,\"type\":\"t\",\"s\":\"" s "\"}\n"

TEST(escapes)
{
	EXPECT_STREQ(LINE("a\\\"b\\\\c"), text_of("a\"b\\c"));
	EXPECT_STREQ(LINE("\\u000a\\u001b[0m\\u007f"), text_of("\n\033[0m\177"));
	EXPECT_STREQ(LINE("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
		     text_of("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));
}

/* Overlong forms, surrogates, numbers past Unicode, lone and missing continuation bytes. */
TEST(bad_utf8_becomes_the_replacement_character)
{
	EXPECT_STREQ(LINE("\\ufffd\\ufffd"), text_of("\xc0\xaf"));
	EXPECT_STREQ(LINE("\\ufffd\\ufffd\\ufffd"), text_of("\xed\xa0\x80"));
	EXPECT_STREQ(LINE("\\ufffd\\ufffd\\ufffd\\ufffd"), text_of("\xf4\x90\x80\x80"));
	EXPECT_STREQ(LINE("\\ufffd"), text_of("\xe2"));
	EXPECT_STREQ(LINE("\\ufffd\\ufffd"), text_of("\xe2\x82"));
	EXPECT_STREQ(LINE("\\ufffdz"), text_of("\x80z"));
}

TEST_HARNESS_MAIN
