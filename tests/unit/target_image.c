/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "target/image.h"
#include "target/maps.h"
#include "target/target.h"
#include "unit/elf_bytes.h"
#include "unit/unit.h"

/* Small ELF files made here, as bytes and as files that this process maps. */

static struct elf_bytes elf;
static struct elf_bytes debug;
static struct image *image;
static char folder[] = "/tmp/jvmscope-image-XXXXXX";
static struct target *self;

static int make_folder(void)
{
	return mkdtemp(folder) && target_open(getpid(), &self) == 0 ? 0 : 1;
}

static int remove_folder(void)
{
	target_close(self);
	return rmdir(folder);
}

static void setup(void)
{
	image = NULL;
	elf_begin(&elf);
	elf_begin(&debug);
}

static void teardown(void)
{
	image_close(image);
}

static int open_elf(void)
{
	uint8_t *bytes = elf_copy(&elf);
	int err = image_open_bytes(bytes, elf.size, "/lib/test.so", &image);

	if (err)
		free(bytes);
	return err;
}

#define AT(offset) (ELF_BASE + (offset))

static const struct elf_symbol functions[] = {
	{ "outer", AT(0x100), 0x100, STT_FUNC, STB_LOCAL },
	{ "label", AT(0x110), 0x10, STT_FUNC, STB_LOCAL },
	{ "__read", AT(0x300), 0x10, STT_FUNC, STB_GLOBAL },
	{ "read@@V_1", AT(0x300), 0x10, STT_FUNC, STB_GLOBAL },
	{ "a_weak_read", AT(0x300), 0x10, STT_FUNC, STB_WEAK },
	{ "unsized", AT(0x400), 0, STT_FUNC, STB_GLOBAL },
	{ "after", AT(0x480), 0x10, STT_FUNC, STB_GLOBAL },
	{ "object", AT(0x120), 8, STT_OBJECT, STB_GLOBAL },
	{ "undefined", 0, 0, STT_FUNC, STB_GLOBAL },
	{ "last", AT(0x500), 0, STT_FUNC, STB_GLOBAL },
};

static void expect_function(uint64_t vaddr, const char *name, uint64_t offset)
{
	uint64_t got = 0;
	const char *function = image_function(image, vaddr, &got);

	CU_ASSERT_PTR_NOT_NULL_FATAL(function);
	CU_ASSERT_STRING_EQUAL(function, name);
	ASSERT_INT(got, offset);
}

static void names_addresses(void)
{
	uint64_t offset;

	elf_add_symbols(&elf, ".symtab", functions, ARRAY_SIZE(functions));
	elf.size = 0x1000; /* behind the last function */
	elf_end(&elf);
	ASSERT_INT(open_elf(), 0);
	CU_ASSERT_TRUE(image_has_symtab(image));
	CU_ASSERT_PTR_NULL(image_function(image, AT(0xff), &offset));
	expect_function(AT(0x100), "outer", 0);
	expect_function(AT(0x11f), "label", 0xf);
	expect_function(AT(0x120), "outer", 0x20);
	expect_function(AT(0x1ff), "outer", 0xff);
	CU_ASSERT_PTR_NULL(image_function(image, AT(0x200), &offset));
	expect_function(AT(0x30f), "read@@V_1", 0xf);
	CU_ASSERT_PTR_NULL(image_function(image, AT(0x310), &offset));
	expect_function(AT(0x47f), "unsized", 0x7f);
	CU_ASSERT_PTR_NULL(image_function(image, AT(0x490), &offset));
	expect_function(AT(elf.size - 1), "last", elf.size - 1 - 0x500);
	CU_ASSERT_PTR_NULL(image_function(image, AT(elf.size), &offset));
	CU_ASSERT_PTR_NULL(image_function(image, 0, &offset));
	CU_ASSERT_PTR_NULL(image_function(image, UINT64_MAX, &offset));
}

static void finds_variables_with_their_size(void)
{
	static const struct elf_symbol dynamic[] = {
		{ "exported", AT(0x600), 8, STT_OBJECT, STB_GLOBAL },
	};
	uint64_t vaddr = 7, size = 7;

	elf_add_symbols(&elf, ".symtab", functions, ARRAY_SIZE(functions));
	elf_add_symbols(&elf, ".dynsym", dynamic, ARRAY_SIZE(dynamic));
	elf_end(&elf);
	ASSERT_INT(open_elf(), 0);
	ASSERT_INT(image_object(image, "outer", &vaddr, &size), -ENOENT); /* a function */
	ASSERT_INT(vaddr, 7);
	ASSERT_INT(image_object(image, "object", &vaddr, &size), 0);
	ASSERT_INT(vaddr, AT(0x120));
	ASSERT_INT(size, 8);
}

static void finds_exported_variables_without_a_table(void)
{
	static const struct elf_symbol dynamic[] = {
		{ "exported", AT(0x600), 16, STT_OBJECT, STB_GLOBAL },
	};
	uint64_t vaddr, size;

	elf_add_symbols(&elf, ".dynsym", dynamic, ARRAY_SIZE(dynamic));
	elf_end(&elf);
	ASSERT_INT(open_elf(), 0);
	ASSERT_INT(image_object(image, "exported", &vaddr, &size), 0);
	ASSERT_INT(vaddr, AT(0x600));
	ASSERT_INT(size, 16);
	ASSERT_INT(image_object(image, "object", &vaddr, &size), -ENOENT);
}

static void finds_symbols_by_name(void)
{
	static const struct elf_symbol dynamic[] = {
		{ "exported", AT(0x600), 8, STT_OBJECT, STB_GLOBAL },
	};
	uint64_t vaddr = 7;

	elf_add_symbols(&elf, ".symtab", functions, ARRAY_SIZE(functions));
	elf_add_symbols(&elf, ".dynsym", dynamic, ARRAY_SIZE(dynamic));
	elf_end(&elf);
	ASSERT_INT(open_elf(), 0);
	ASSERT_INT(image_symbol(image, "outer", true, &vaddr), -ENOENT);
	ASSERT_INT(vaddr, 7);
	ASSERT_INT(image_symbol(image, "exported", true, &vaddr), 0);
	ASSERT_INT(vaddr, AT(0x600));
	ASSERT_INT(image_symbol(image, "exported", false, &vaddr), 0);
	ASSERT_INT(image_symbol(image, "object", false, &vaddr), 0);
	ASSERT_INT(vaddr, AT(0x120));
	ASSERT_INT(image_symbol(image, "read", false, &vaddr), 0);
	ASSERT_INT(vaddr, AT(0x300));
	ASSERT_INT(image_symbol(image, "undefined", false, &vaddr), -ENOENT);
	ASSERT_INT(image_symbol(image, "out", false, &vaddr), -ENOENT);
	ASSERT_INT(image_symbol(image, "", false, &vaddr), -ENOENT);
}

static void reads_the_build_id(void)
{
	uint8_t id[IMAGE_BUILD_ID_MAX];

	elf_add_build_id(&elf, 0xab, 20);
	elf_end(&elf);
	ASSERT_INT(open_elf(), 0);
	ASSERT_INT(image_build_id(image, id), 20);
	ASSERT_INT(id[0], 0xab);
	ASSERT_INT(id[19], 0xab);
	CU_ASSERT_STRING_EQUAL(image_name(image), "test.so");
}

/* Code in the file at 0x1800, mapped from 0x1000 on; data begins in the code's last page. */
static void knows_the_bias(void)
{
	static const struct {
		uint64_t offset;
		bool executable;
		uint64_t vaddr; /* of the mapping's first byte */
	} cases[] = {
		{ 0x1000, true, 0x601000 },  { 0x2000, true, 0x602000 },
		{ 0x2000, false, 0x703000 }, { 0x0000, false, ELF_BASE },
		{ 0x9000, false, 0x9000 }, /* in no segment */
	};
	struct mapping mapping = { .start = 0x7f0000000000, .end = 0x7f0000001000 };
	uint64_t offset;

	elf.size = 0x3000;
	elf_add_segment(&elf, (Elf64_Phdr){ .p_type = PT_LOAD,
					    .p_flags = PF_R | PF_X,
					    .p_offset = 0x1800,
					    .p_vaddr = 0x601800,
					    .p_filesz = 0xa00,
					    .p_memsz = 0xa00 });
	elf_add_segment(&elf, (Elf64_Phdr){ .p_type = PT_LOAD,
					    .p_flags = PF_R | PF_W,
					    .p_offset = 0x2200,
					    .p_vaddr = 0x703200,
					    .p_filesz = 0x600,
					    .p_memsz = 0x6000 });
	elf_end(&elf);
	/* The segment of the whole file is cut, so that the three do not overlap. */
	((Elf64_Phdr *)(elf.bytes + ((Elf64_Ehdr *)elf.bytes)->e_phoff))->p_filesz = 0x800;
	ASSERT_INT(open_elf(), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		mapping.offset = cases[i].offset;
		mapping.executable = cases[i].executable;
		ASSERT_INT(mapping.start - image_bias(image, &mapping), cases[i].vaddr);
	}
	ASSERT_INT(image_file_offset(image, 0x601900, &offset), 0);
	ASSERT_INT(offset, 0x1900);
	ASSERT_INT(image_file_offset(image, 0x703800, &offset), -ENOENT); /* .bss */
}

static void gives_bytes_up_to_the_end_of_the_segment(void)
{
	uint64_t at = elf_append(&elf, "hello", 6);
	const uint8_t *bytes;
	size_t size;

	elf_end(&elf);
	ASSERT_INT(open_elf(), 0);
	bytes = image_bytes(image, AT(at), &size);
	CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
	CU_ASSERT_STRING_EQUAL((const char *)bytes, "hello");
	ASSERT_INT(size, elf.size - at);
	CU_ASSERT_PTR_NULL(image_bytes(image, AT(elf.size), &size));
	CU_ASSERT(image_memory(image) > elf.size);
}

static void refuses_what_is_not_an_image(void)
{
	static const struct {
		size_t at;
		uint8_t value;
	} changes[] = {
		{ 0, 0 },				     /* magic */
		{ EI_CLASS, ELFCLASS32 },		     /* 32 bits */
		{ EI_DATA, ELFDATA2MSB },		     /* big endian */
		{ offsetof(Elf64_Ehdr, e_machine), 8 },	     /* MIPS */
		{ offsetof(Elf64_Ehdr, e_type), ET_REL },    /* not linked */
		{ offsetof(Elf64_Ehdr, e_phentsize), 1 },    /* odd table */
		{ offsetof(Elf64_Ehdr, e_phnum), 0 },	     /* no table */
		{ offsetof(Elf64_Ehdr, e_phnum) + 1, 0xff }, /* huge table */
		{ offsetof(Elf64_Ehdr, e_phoff) + 6, 1 },    /* table outside */
	};
	uint8_t old;

	elf_end(&elf);
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		old = elf.bytes[changes[i].at];
		elf.bytes[changes[i].at] = changes[i].value;
		ASSERT_INT(open_elf(), -ENOEXEC);
		elf.bytes[changes[i].at] = old;
	}
	elf.size = 0;
	ASSERT_INT(open_elf(), -ENOEXEC);
	elf.size = 63;
	ASSERT_INT(open_elf(), -ENOEXEC);
}

static void ask_everything(void)
{
	uint64_t value;
	size_t size;

	image_build_id(image, NULL);
	image_function(image, AT(0x110), &value);
	image_symbol(image, "nothing", false, &value);
	image_bytes(image, AT(0), &size);
	image_eh_frame_hdr(image, &value, &size);
}

static void survives_every_cut_and_many_changed_bytes(void)
{
	uint8_t whole[sizeof(elf.bytes)];
	size_t size;

	elf_add_build_id(&elf, 1, 20);
	elf_add_symbols(&elf, ".symtab", functions, ARRAY_SIZE(functions));
	elf_add_symbols(&elf, ".dynsym", functions, ARRAY_SIZE(functions));
	elf_end(&elf);
	size = elf.size;
	memcpy(whole, elf.bytes, size);
	for (elf.size = 0; elf.size < size; elf.size++) {
		if (open_elf() == 0)
			ask_everything();
		image_close(image);
		image = NULL;
	}
	srand(1);
	for (int round = 0; round < 20000; round++) {
		memcpy(elf.bytes, whole, size);
		for (int n = rand() % 6; n >= 0; n--)
			elf.bytes[(size_t)rand() % size] = (uint8_t)rand();
		if (open_elf() == 0)
			ask_everything();
		image_close(image);
		image = NULL;
	}
}

static void reads_packed_symbols(void)
{
	static uint8_t packed[sizeof(debug.bytes)];
	size_t size = 0;

	elf_add_symbols(&debug, ".symtab", functions, ARRAY_SIZE(functions));
	elf_end(&debug);
	ASSERT_INT(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, debug.bytes, debug.size,
					   packed, &size, sizeof(packed)),
		   LZMA_OK);
	elf_add_bytes(&elf, ".gnu_debugdata", packed, size);
	elf_end(&elf);
	ASSERT_INT(open_elf(), 0);
	CU_ASSERT_TRUE(image_has_symtab(image));
	expect_function(AT(0x11f), "label", 0xf);
}

static void goes_without_damaged_packed_symbols(void)
{
	static const uint8_t zeros[4096];
	uint64_t offset;

	elf_add_bytes(&elf, ".gnu_debugdata", zeros, sizeof(zeros));
	elf_end(&elf);
	ASSERT_INT(open_elf(), 0);
	CU_ASSERT_FALSE(image_has_symtab(image));
	CU_ASSERT_PTR_NULL(image_function(image, AT(0x110), &offset));
}

/* ---- files */

static void path_of(const char *name, char path[128])
{
	snprintf(path, 128, "%s/%s", folder, name);
}

static void write_file(const char *name, const void *bytes, size_t size)
{
	char path[128];
	FILE *file;

	path_of(name, path);
	file = fopen(path, "we");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_FATAL(fwrite(bytes, 1, size, file) == size);
	fclose(file);
}

static void delete_file(const char *name)
{
	char path[128];

	path_of(name, path);
	unlink(path);
}

/* Maps a file, opens the image of the mapping, and takes the mapping away again. */
static int open_mapped(const char *name, bool unlink_first)
{
	struct maps maps;
	char path[128];
	void *at;
	int err;
	int fd;

	path_of(name, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	CU_ASSERT_FATAL(at != MAP_FAILED);
	if (unlink_first)
		unlink(path);
	ASSERT_INT(maps_read(getpid(), &maps), 0);
	err = image_open(self, maps_find(&maps, (uint64_t)(uintptr_t)at), &image);
	maps_free(&maps);
	munmap(at, 4096);
	return err;
}

static void add_link(const char *name, uint32_t crc)
{
	uint8_t link[64] = { 0 };
	size_t at = (strlen(name) + 4) / 4 * 4;

	memcpy(link, name, strlen(name));
	memcpy(link + at, &crc, sizeof(crc));
	elf_add_bytes(&elf, ".gnu_debuglink", link, at + 4);
}

static uint32_t checksum(void)
{
	return (uint32_t)crc32(0, debug.bytes, (uInt)debug.size);
}

static void follows_the_debug_link(void)
{
	elf_add_symbols(&debug, ".symtab", functions, ARRAY_SIZE(functions));
	elf_end(&debug);
	add_link("test.debug", checksum());
	elf_end(&elf);
	write_file("test.debug", debug.bytes, debug.size);
	write_file("test.so", elf.bytes, elf.size);
	ASSERT_INT(open_mapped("test.so", false), 0);
	delete_file("test.debug");
	delete_file("test.so");
	CU_ASSERT_TRUE(image_has_symtab(image));
	expect_function(AT(0x11f), "label", 0xf);
}

static void refuses_a_debug_file_of_another_build(void)
{
	elf_add_build_id(&debug, 1, 20);
	elf_add_symbols(&debug, ".symtab", functions, ARRAY_SIZE(functions));
	elf_end(&debug);
	elf_add_build_id(&elf, 2, 20);
	add_link("test.debug", checksum());
	elf_end(&elf);
	write_file("test.debug", debug.bytes, debug.size);
	write_file("test.so", elf.bytes, elf.size);
	ASSERT_INT(open_mapped("test.so", false), 0);
	delete_file("test.debug");
	delete_file("test.so");
	CU_ASSERT_FALSE(image_has_symtab(image));
}

static void refuses_a_debug_file_with_another_checksum(void)
{
	elf_add_symbols(&debug, ".symtab", functions, ARRAY_SIZE(functions));
	elf_end(&debug);
	add_link("test.debug", checksum() + 1);
	elf_end(&elf);
	write_file("test.debug", debug.bytes, debug.size);
	write_file("test.so", elf.bytes, elf.size);
	ASSERT_INT(open_mapped("test.so", false), 0);
	delete_file("test.debug");
	delete_file("test.so");
	CU_ASSERT_FALSE(image_has_symtab(image));
}

static void opens_a_deleted_file(void)
{
	elf_add_symbols(&elf, ".symtab", functions, ARRAY_SIZE(functions));
	elf_end(&elf);
	write_file("test.so", elf.bytes, elf.size);
	/* map_files needs a capability. */
	if (geteuid() != 0) {
		delete_file("test.so");
		return;
	}
	ASSERT_INT(open_mapped("test.so", true), 0);
	expect_function(AT(0x11f), "label", 0xf);
}

static void survives_a_file_that_is_cut_while_open(void)
{
	uint64_t offset;
	char path[128];
	size_t size;

	elf_add_symbols(&elf, ".symtab", functions, ARRAY_SIZE(functions));
	elf_end(&elf);
	write_file("test.so", elf.bytes, elf.size);
	ASSERT_INT(open_mapped("test.so", false), 0);
	path_of("test.so", path);
	ASSERT_INT(truncate(path, 100), 0);
	CU_ASSERT_PTR_NULL(image_function(image, AT(0x110), &offset));
	CU_ASSERT_PTR_NULL(image_bytes(image, AT(0), &size));
	CU_ASSERT_FALSE(image_has_symtab(image));
	delete_file("test.so");
}

static void refuses_files_that_are_no_elf(void)
{
	write_file("libjvm.so", "this is a text file\n", 20);
	ASSERT_INT(open_mapped("libjvm.so", false), -ENOEXEC);
	write_file("libjvm.so", "", 0);
	ASSERT_INT(open_mapped("libjvm.so", false), -ENOEXEC);
	delete_file("libjvm.so");
}

static void refuses_mappings_without_a_file(void)
{
	static const char *const paths[] = { "", "[heap]", "[anon:x]", "[vsyscall]" };
	struct mapping mapping = { .start = 0x1000, .end = 0x2000 };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		mapping.path = paths[i];
		ASSERT_INT(image_open(self, &mapping, &image), -ENOENT);
	}
	mapping.path = "/nowhere/libjvm.so";
	ASSERT_INT(image_open(self, &mapping, &image), -ENOENT);
	mapping.path = "[vdso]"; /* not there */
	ASSERT_INT(image_open(self, &mapping, &image), -ENOENT);
}

static void opens_the_vdso(void)
{
	const struct mapping *vdso = NULL;
	struct maps maps;
	uint64_t vaddr;

	ASSERT_INT(maps_read(getpid(), &maps), 0);
	for (size_t i = 0; i < maps.count; i++) {
		if (!strcmp(maps.items[i].path, "[vdso]"))
			vdso = &maps.items[i];
	}
	if (vdso) {
		ASSERT_INT(image_open(self, vdso, &image), 0);
		ASSERT_INT(vdso->start - image_bias(image, vdso), 0);
		CU_ASSERT(image_symbol(image, "__vdso_clock_gettime", true, &vaddr) == 0 ||
			  image_symbol(image, "__kernel_clock_gettime", true, &vaddr) == 0);
		CU_ASSERT_STRING_EQUAL(image_name(image), "[vdso]");
	}
	maps_free(&maps);
}

static CU_TestInfo tests[] = {
	{ "names addresses", names_addresses },
	{ "finds variables with their size", finds_variables_with_their_size },
	{ "finds exported variables without a table", finds_exported_variables_without_a_table },
	{ "finds symbols by name", finds_symbols_by_name },
	{ "reads the build id", reads_the_build_id },
	{ "knows the bias", knows_the_bias },
	{ "gives bytes up to the end of the segment", gives_bytes_up_to_the_end_of_the_segment },
	{ "refuses what is not an image", refuses_what_is_not_an_image },
	{ "survives every cut and many changed bytes", survives_every_cut_and_many_changed_bytes },
	{ "reads packed symbols", reads_packed_symbols },
	{ "goes without damaged packed symbols", goes_without_damaged_packed_symbols },
	{ "follows the debug link", follows_the_debug_link },
	{ "refuses a debug file of another build", refuses_a_debug_file_of_another_build },
	{ "refuses a debug file with another checksum",
	  refuses_a_debug_file_with_another_checksum },
	{ "opens a deleted file", opens_a_deleted_file },
	{ "survives a file that is cut while open", survives_a_file_that_is_cut_while_open },
	{ "refuses files that are no elf", refuses_files_that_are_no_elf },
	{ "refuses mappings without a file", refuses_mappings_without_a_file },
	{ "opens the vdso", opens_the_vdso },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo target_image_suite = {
	.pName = "image",
	.pInitFunc = make_folder,
	.pCleanupFunc = remove_folder,
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
