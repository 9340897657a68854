// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * ELF images: the kinds are told apart, every prefix and every damaged byte of a file is
 * survived, and so is a file that shrinks while it is open.
 */
#include "harness/image.h"
#include "harness/static_fdes.h"
#include "selftests/kselftest_harness.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>

#define TEXT	0x401000ULL
#define CFI	0x402000ULL

/* A file with one executable and one read-only segment; .eh_frame is by section header only. */
struct file {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[2];
	u8 text[64];
	u8 cfi[96];
	char names[24];
	Elf64_Shdr sh[4];
};

static void put32(u8 *p, u32 v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (u8)(v >> 8 * i);
}

/* One CIE (CFA = rsp + 8, RA at CFA - 8) and one FDE for all of .text, CFA = rsp + 16 later. */
static void put_cfi(u8 *p)
{
	static const u8 cie[] = { 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0 };
	static const u8 insns[] = { 0, 0x41, 0x0e, 16 };

	put32(p, 4 + sizeof(cie));
	memcpy(p + 8, cie, sizeof(cie));
	p += 8 + sizeof(cie);
	put32(p, 12 + sizeof(insns));
	put32(p + 4, 4 + 8 + sizeof(cie));
	put32(p + 8, (u32)(TEXT - (CFI + 8 + sizeof(cie) + 8)));
	put32(p + 12, 64);
	memcpy(p + 16, insns, sizeof(insns));
}

static void make(struct file *f)
{
	*f = (struct file){
		.eh = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = 1,
			.e_phoff = offsetof(struct file, ph), .e_phnum = 2,
			.e_shoff = offsetof(struct file, sh), .e_shnum = 4, .e_shstrndx = 3,
			.e_ehsize = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr),
			.e_shentsize = sizeof(Elf64_Shdr),
		},
		.ph = {
			{ PT_LOAD, PF_R | PF_X, offsetof(struct file, text), TEXT, TEXT, 64, 64, 1 },
			{ PT_LOAD, PF_R, offsetof(struct file, cfi), CFI, CFI, 96, 96, 1 },
		},
		.names = "\0.text\0.eh_frame",
		.sh = {
			[1] = { 1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT,
				offsetof(struct file, text), 64, 0, 0, 1, 0 },
			[2] = { 7, SHT_PROGBITS, SHF_ALLOC, CFI, offsetof(struct file, cfi), 48,
				0, 0, 1, 0 },
			[3] = { 0, SHT_STRTAB, 0, 0, offsetof(struct file, names), 24, 0, 0, 1, 0 },
		},
	};
	put_cfi(f->cfi);
}

static enum image_status open_it(const struct file *f, u64 size, struct image_error *err)
{
	struct image *img;
	enum image_status status = image_open_memory(f, size, "x", &img, err);

	image_close(img);
	return status;
}

/* Everything that a hostile image can be asked. */
static u64 use(struct image *img)
{
	struct ehf_cost cost = { 0 };
	struct ehf_ctx ctx = image_ctx(img, &ehf_limits_walk, &cost);
	struct static_fdes fdes;
	u64 addr, size, sum;

	EXPECT_TRUE(static_fdes_read(&fdes, img, &ctx));
	sum = fdes.nr;
	static_fdes_free(&fdes);
	image_symbol_at(img, TEXT);
	image_symbol_named(img, "x");
	image_section_named(img, ".text", &addr, &size);
	return sum;
}

FIXTURE(image) { struct file f; struct image_error err; };
FIXTURE_SETUP(image) { make(&self->f); }

TEST_F(image, good)
{
	struct image *img;
	u64 avail = 0, addr = 0, size = 0;
	u8 word[4];

	ASSERT_EQ(IMAGE_OK, image_open_memory(&self->f, sizeof(self->f), "x", &img, &self->err)) {
		TH_LOG("%s", self->err.text);
	}
	EXPECT_EQ(CFI, img->section.eh_frame);
	EXPECT_EQ(CFI + 48, img->section.eh_frame_end);
	EXPECT_TRUE(img->section.scan);
	EXPECT_EQ(0, img->section.table);
	EXPECT_EQ(1, img->nr_exec);
	EXPECT_EQ(TEXT, img->section.text_start);
	EXPECT_EQ(TEXT + 64, img->section.text_end);
	EXPECT_EQ(1, use(img));
	EXPECT_TRUE(image_bytes_at(img, CFI, &avail) == self->f.cfi);
	EXPECT_EQ(96, avail);
	EXPECT_NULL(image_bytes_at(img, CFI + 96, &avail));
	EXPECT_TRUE(image_section_named(img, ".eh_frame", &addr, &size));
	EXPECT_EQ(CFI, addr);
	EXPECT_EQ(48, size);
	EXPECT_TRUE(img->copying->read(img->copying, CFI + 92, word, 4));
	EXPECT_FALSE(img->copying->read(img->copying, CFI + 93, word, 4));
	EXPECT_EQ(2, img->copy_mem.reads);
	image_close(img);
}

TEST_F(image, kinds)
{
	struct file *f = &self->f;
	struct image_error *err = &self->err;

	f->eh.e_type = ET_REL;
	EXPECT_EQ(IMAGE_RELOCATABLE, open_it(f, sizeof(*f), err));
	make(f);
	f->eh.e_machine = EM_PPC64;
	EXPECT_EQ(IMAGE_OTHER_MACHINE, open_it(f, sizeof(*f), err));
	make(f);
	f->sh[2].sh_type = SHT_NOBITS;
	EXPECT_EQ(IMAGE_DEBUG_FILE, open_it(f, sizeof(*f), err));
	/* A debug file's program headers still hold the program's offsets: they are not used. */
	f->ph[1].p_offset = 1 << 20;
	EXPECT_EQ(IMAGE_DEBUG_FILE, open_it(f, sizeof(*f), err));
	make(f);
	f->sh[2].sh_name = 8;	/* "eh_frame" */
	EXPECT_EQ(IMAGE_NO_CFI, open_it(f, sizeof(*f), err));
	make(f);
	f->ph[1].p_filesz = f->ph[1].p_memsz = 1 << 20;
	EXPECT_EQ(IMAGE_TRUNCATED, open_it(f, sizeof(*f), err));
	make(f);
	f->sh[2].sh_addr += 0x10000;
	EXPECT_EQ(IMAGE_DAMAGED, open_it(f, sizeof(*f), err));
	make(f);
	f->eh.e_ident[EI_MAG1] = 'e';
	EXPECT_EQ(IMAGE_NOT_ELF, open_it(f, sizeof(*f), err));
	EXPECT_EQ(IMAGE_NOT_ELF, open_it(f, 3, err));
}

/* An image without CFI still has segments; its caller closes it. */
TEST_F(image, no_cfi_is_still_an_image)
{
	struct image *img;

	self->f.sh[2].sh_name = 8;
	ASSERT_EQ(IMAGE_NO_CFI, image_open_memory(&self->f, sizeof(self->f), "x", &img,
						  &self->err));
	ASSERT_TRUE(img != NULL);
	EXPECT_EQ(2, img->nr_segs);
	image_close(img);
}

TEST_F(image, every_prefix_is_refused_with_a_position)
{
	char *copy;

	for (u64 size = 4; size < sizeof(self->f); size++) {
		/* A heap block of that size: a sanitizer sees what is read behind it. */
		copy = malloc(size);
		memcpy(copy, &self->f, size);
		ASSERT_EQ(IMAGE_TRUNCATED, open_it((struct file *)copy, size, &self->err)) {
			TH_LOG("size %llu: %s", (unsigned long long)size, self->err.text);
		}
		EXPECT_EQ(size, self->err.offset);
		free(copy);
	}
}

TEST_F(image, every_damaged_byte_is_survived)
{
	static const u8 values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	u64 opened = 0;

	for (size_t i = 0; i < sizeof(self->f); i++) {
		for (size_t k = 0; k < sizeof(values); k++) {
			struct file *copy = malloc(sizeof(*copy));
			struct image *img;

			memcpy(copy, &self->f, sizeof(*copy));
			((u8 *)copy)[i] = values[k];
			if (!image_open_memory(copy, sizeof(*copy), "x", &img, &self->err))
				opened += 1 + use(img);
			else
				EXPECT_NE('\0', self->err.text[0]);
			image_close(img);
			free(copy);
		}
	}
	EXPECT_GT(opened, 0);
}

static int temp_file(const void *data, size_t size)
{
	char name[] = "/tmp/static_image.XXXXXX";
	int fd = mkstemp(name);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		return -1;
	unlink(name);
	return fd;
}

TEST_F(image, a_file_that_shrinks)
{
	size_t size = 256 * 1024;
	u8 *big = calloc(1, size);
	struct image *img;
	u64 avail = 0;
	const u8 *p;
	int fd;

	/* .eh_frame beyond the first pages, which stay there. */
	self->f.ph[1].p_offset = size - 96;
	self->f.sh[2].sh_offset = size - 96;
	memcpy(big, &self->f, sizeof(self->f));
	memcpy(big + size - 96, self->f.cfi, 96);
	fd = temp_file(big, size);
	ASSERT_LE(0, fd);
	ASSERT_EQ(IMAGE_OK, image_open_fd(fd, "x", &img, &self->err)) {
		TH_LOG("%s", self->err.text);
	}
	EXPECT_FALSE(image_changed(img));
	ASSERT_EQ(0, ftruncate(fd, 4096));
	p = image_bytes_at(img, CFI, &avail);
	ASSERT_TRUE(p != NULL);
	EXPECT_EQ(0, p[0]);
	EXPECT_TRUE(image_changed(img));
	use(img);
	image_close(img);
	free(big);
}

/* A fault that is not in an image is still what it would be without us. */
TEST_F_SIGNAL(image, other_faults_are_not_hidden, SIGBUS)
{
	int fd = temp_file(&self->f, sizeof(self->f)), other;
	struct image *img;
	volatile u8 *p;

	ASSERT_EQ(IMAGE_OK, image_open_fd(fd, "x", &img, &self->err));
	other = temp_file(&self->f, sizeof(self->f));
	p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, other, 0);
	ASSERT_TRUE(p != MAP_FAILED);
	ASSERT_EQ(0, ftruncate(other, 0));
	(void)p[0];
}

TEST(odd_files)
{
	struct image_error err;
	struct image *img;

	EXPECT_EQ(IMAGE_UNREADABLE, image_open("/nonexistent/file", &img, &err));
	EXPECT_NULL(img);
	EXPECT_EQ(IMAGE_NOT_ELF, image_open("/dev/null", &img, &err));
	EXPECT_EQ(IMAGE_UNREADABLE, image_open("/", &img, &err));
	EXPECT_TRUE(strstr(err.text, "/") != NULL);
}

TEST(symbols_of_this_program)
{
	const struct image_symbol *s;
	struct image_error err;
	struct image *img;

	if (image_open("/proc/self/exe", &img, &err))
		SKIP(return, "%s", err.text);
	s = image_symbol_named(img, "main");
	ASSERT_TRUE(s != NULL);
	EXPECT_TRUE(image_symbol_at(img, s->addr) == s ||
		    image_symbol_at(img, s->addr)->addr == s->addr);
	EXPECT_STREQ("main", image_symbol_at(img, s->addr + 1)->name);
	EXPECT_NULL(image_symbol_named(img, "no such symbol"));
	EXPECT_NULL(image_symbol_at(img, 1));
	image_close(img);
}

TEST_HARNESS_MAIN
