/* SPDX-License-Identifier: Apache-2.0 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/ehframe.h"
#include "target/image.h"
#include "target/maps.h"
#include "unit/unit.h"

/*
 * The rows of real libraries against libdw, which reads .eh_frame in its own way: for each row the
 * first and the last address it is valid for.
 */

#define WORD 8
#if defined(__aarch64__)
#define REG_SP 31
#define REG_FP 29
#define REG_RA 30
#else
#define REG_SP	  7
#define REG_FP	  6
#define REG_RA	  16
#define REG_R13	  13
#define RA_OFFSET (-WORD)
#endif

#define FILE_SIZE_MAX (64u << 20)
#define JUDGED_MAX    20000 /* rows of one image; libjvm's are judged in strides */

/* What libdw says of one register at one address. */
struct judged {
	enum { SAME, AT, OTHER, UNDEFINED } how;
	int64_t offset; /* from the CFA */
};

static struct judged judge_register(Dwarf_Frame *frame, int number)
{
	struct judged judged = { .how = OTHER };
	Dwarf_Op storage[3];
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_frame_register(frame, number, storage, &ops, &count))
		return judged;
	if (count == 0) {
		judged.how = ops ? UNDEFINED : SAME;
		return judged;
	}
	if (ops[0].atom != DW_OP_call_frame_cfa)
		return judged;
	if (count == 1)
		return (struct judged){ .how = AT };
	if (count == 2 && ops[1].atom == DW_OP_plus_uconst)
		return (struct judged){ .how = AT, .offset = (int64_t)ops[1].number };
	return judged;
}

/* The CFA as register + offset, or as the PLT's expression. */
static uint8_t judge_cfa(Dwarf_Frame *frame, int64_t *offset)
{
	Dwarf_Op *ops;
	size_t count;
	uint64_t number;

	CU_ASSERT_FATAL(dwarf_frame_cfa(frame, &ops, &count) == 0);
	if (count == 8 && ops[0].atom == DW_OP_breg7 && ops[4].atom == DW_OP_ge) {
		*offset = ops[3].atom - DW_OP_lit0;
		return JVS_ROW_PLT;
	}
	if (count == 9 && ops[0].atom == DW_OP_breg7 && ops[5].atom == DW_OP_ge) {
		*offset = ops[4].atom - DW_OP_lit0;
		return JVS_ROW_PLT;
	}
	if (count != 1)
		return JVS_ROW_BAD;
	if (ops[0].atom == DW_OP_bregx) {
		number = ops[0].number;
		*offset = (int64_t)ops[0].number2;
	} else if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
		number = ops[0].atom - DW_OP_breg0;
		*offset = (int64_t)ops[0].number;
	} else {
		return JVS_ROW_BAD;
	}
	*offset /= WORD;
	if (number == REG_SP)
		return JVS_ROW_SP;
	return number == REG_FP ? JVS_ROW_FP : JVS_ROW_BAD;
}

/* The row that libdw's answer amounts to. */
static struct jvs_row expected_row(Dwarf_CFI *cfi, uint64_t addr)
{
	struct jvs_row row = { 0 };
	Dwarf_Frame *frame;
	struct judged saved;
	int64_t offset = 0;
	bool signal;

	if (dwarf_cfi_addrframe(cfi, addr, &frame))
		return row;
	dwarf_frame_info(frame, NULL, NULL, &signal);
	if (signal) {
		row.kind = JVS_ROW_SIGNAL;
		goto out;
	}
	saved = judge_register(frame, REG_RA);
	if (saved.how == UNDEFINED) {
		row.kind = JVS_ROW_END;
		goto out;
	}
#ifdef RA_OFFSET
	/* vfork() of glibc keeps it in a register. */
	if (saved.how != AT || saved.offset != RA_OFFSET) {
		row.kind = JVS_ROW_BAD;
		goto out;
	}
#endif
	row.kind = judge_cfa(frame, &offset);
	row.cfa = (int16_t)offset;
	saved = judge_register(frame, REG_FP);
	if (saved.how == AT)
		row.fp = (int8_t)(saved.offset / WORD);
	if (saved.how == OTHER)
		row.kind = JVS_ROW_BAD;
#ifdef REG_R13
	saved = judge_register(frame, REG_R13);
	if (saved.how == AT && row.kind != JVS_ROW_BAD)
		row.kind |= (uint8_t)(-saved.offset / WORD << 3);
#endif
out:
	free(frame);
	return row;
}

static bool same(const struct jvs_row *row, const struct jvs_row *expected)
{
	/* Of these the kind says all. */
	if ((row->kind & 7) == JVS_ROW_BAD && (expected->kind & 7) == JVS_ROW_BAD)
		return true;
	return row->kind == expected->kind && row->cfa == expected->cfa && row->fp == expected->fp;
}

static void judge_at(Dwarf_CFI *cfi, const char *name, const struct jvs_row *row, uint64_t addr)
{
	struct jvs_row expected = expected_row(cfi, addr);

	if (!same(row, &expected))
		fprintf(stderr, "%s: %lx: kind %u cfa %d fp %d, expected kind %u cfa %d fp %d\n",
			name, (unsigned long)addr, row->kind, row->cfa, row->fp, expected.kind,
			expected.cfa, expected.fp);
	CU_ASSERT_FATAL(same(row, &expected));
}

static void check_table(const struct unwind_rows *rows)
{
	uint64_t addr;
	size_t row;

	for (size_t i = 1; i < rows->count; i++)
		CU_ASSERT_FATAL(rows->rows[i - 1].address < rows->rows[i].address);
	for (size_t k = 0; k < rows->index_count; k++) {
		addr = (uint64_t)k << JVS_INDEX_SHIFT;
		row = rows->index[k];
		CU_ASSERT_FATAL(row < rows->count);
		CU_ASSERT_FATAL(row == 0 || rows->rows[row].address <= addr);
		CU_ASSERT_FATAL(row + 1 == rows->count || rows->rows[row + 1].address > addr);
	}
}

/* bytes are freed. */
static void judge(uint8_t *bytes, size_t size, const char *name)
{
	Elf *elf = elf_memory((char *)bytes, size);
	Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
	struct unwind_rows rows;
	struct image *image;
	uint8_t *copy = malloc(size);
	size_t stride;

	memcpy(copy, bytes, size);
	ASSERT_INT(image_open_bytes(copy, size, name, &image), 0);
	ASSERT_INT(ehframe_rows(image, &rows), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(cfi);
	check_table(&rows);
	stride = rows.count / JUDGED_MAX + 1;
	for (size_t i = 0; i + 1 < rows.count; i += stride) {
		judge_at(cfi, name, &rows.rows[i], rows.rows[i].address);
		judge_at(cfi, name, &rows.rows[i], rows.rows[i + 1].address - 1u);
	}
	ehframe_free(&rows);
	image_close(image);
	dwarf_cfi_end(cfi);
	elf_end(elf);
	free(bytes);
}

/* Whether the file is there. */
static bool judge_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat stat;
	uint8_t *bytes;

	if (fd < 0)
		return false;
	CU_ASSERT_FATAL(fstat(fd, &stat) == 0 && stat.st_size < FILE_SIZE_MAX);
	bytes = malloc((size_t)stat.st_size);
	CU_ASSERT_FATAL(pread(fd, bytes, (size_t)stat.st_size, 0) == stat.st_size);
	close(fd);
	judge(bytes, (size_t)stat.st_size, path);
	return true;
}

static int judge_loaded(struct dl_phdr_info *info, size_t size, void *count)
{
	(void)size;
	if (info->dlpi_name[0] == '/' && judge_file(info->dlpi_name))
		(*(int *)count)++;
	return 0;
}

static void agrees_for_the_libraries_of_this_process(void)
{
	int count = 0;

	elf_version(EV_CURRENT);
	dl_iterate_phdr(judge_loaded, &count);
	CU_ASSERT(count >= 2);
}

static void agrees_for_the_vdso(void)
{
	uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
	const struct mapping *mapping;
	struct maps maps;
	uint8_t *bytes;

	elf_version(EV_CURRENT);
	ASSERT_INT(maps_read(getpid(), &maps), 0);
	mapping = maps_find(&maps, vdso);
	if (mapping) {
		bytes = malloc(mapping->end - vdso);
		memcpy(bytes, (const void *)(uintptr_t)vdso, mapping->end - vdso);
		judge(bytes, mapping->end - vdso, "[vdso]");
	}
	maps_free(&maps);
}

static void agrees_for_libjvm(void)
{
	static const char *const paths[] = {
		"/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so",
		"/usr/lib/jvm/java-17-openjdk-arm64/lib/server/libjvm.so",
		"/usr/lib/jvm/temurin-25-jdk-amd64/lib/server/libjvm.so",
	};

	elf_version(EV_CURRENT);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		judge_file(paths[i]);
}

static CU_TestInfo tests[] = {
	{ "agrees for the libraries of this process", agrees_for_the_libraries_of_this_process },
	{ "agrees for the vdso", agrees_for_the_vdso },
	{ "agrees for libjvm", agrees_for_libjvm },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo target_ehframe_judge_suite = {
	.pName = "ehframe against libdw",
	.pTests = tests,
};
