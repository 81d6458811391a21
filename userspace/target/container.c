/* SPDX-License-Identifier: Apache-2.0 */
#include "target/container.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "target/proc.h"

#define CGROUP_FILE_MAX (256ul * 1024)

#define ID_DIGITS	64
#define ECS_DIGITS	32
#define POD_DIGITS	32
#define POD_WITH_DASHES 36

/* Lower case hexadecimal digits from at on. */
static size_t hex_digits(const char *at)
{
	return strspn(at, "0123456789abcdef");
}

static void copy(char *to, const char *from, size_t len)
{
	memcpy(to, from, len);
	to[len] = '\0';
}

/*
 * One part of the path, between slashes: 64 digits at its end, or followed by ".scope", and
 * before them nothing or a name that ends in "-" or ":".
 */
static bool id_of_part(const char *part, size_t len, struct container *out)
{
	const char *scope = ".scope";
	const char *id;

	if (len > strlen(scope) && !strncmp(part + len - strlen(scope), scope, strlen(scope)))
		len -= strlen(scope);
	if (len < ID_DIGITS)
		return false;
	id = part + len - ID_DIGITS;
	if (hex_digits(id) < ID_DIGITS || (id > part && id[-1] != '-' && id[-1] != ':'))
		return false;
	copy(out->id, id, ID_DIGITS);
	return true;
}

/* Amazon ECS: 32 digits, a dash, and a decimal number. */
static bool ecs_id_of_part(const char *part, size_t len, struct container *out)
{
	size_t number;

	if (len < ECS_DIGITS + 2 || len >= CONTAINER_ID_MAX)
		return false;
	if (hex_digits(part) != ECS_DIGITS || part[ECS_DIGITS] != '-')
		return false;
	number = strspn(part + ECS_DIGITS + 1, "0123456789");
	if (ECS_DIGITS + 1 + number != len)
		return false;
	copy(out->id, part, len);
	return true;
}

/* The innermost container counts: kind runs Kubernetes inside a Docker container. */
static void find_id(const char *path, struct container *out)
{
	const char *part = path;
	size_t len;

	while (*part) {
		len = strcspn(part, "/");
		if (!id_of_part(part, len, out))
			ecs_id_of_part(part, len, out);
		part += len;
		part += *part == '/';
	}
}

/* 8-4-4-4-12 digits; the systemd driver writes "_" where the uid has "-". */
static bool pod_with_dashes(const char *at)
{
	static const size_t groups[] = { 8, 4, 4, 4, 12 };

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		if (i && *at != '-' && *at != '_')
			return false;
		at += i ? 1 : 0;
		if (hex_digits(at) < groups[i])
			return false;
		at += groups[i];
	}
	return !isalnum((unsigned char)*at);
}

/* After "pod": a uid, or the 32 digits of a static pod. */
static bool take_pod(const char *at, struct container *out)
{
	if (pod_with_dashes(at)) {
		copy(out->pod_uid, at, POD_WITH_DASHES);
		for (char *c = strchr(out->pod_uid, '_'); c; c = strchr(c, '_'))
			*c = '-';
		return true;
	}
	if (hex_digits(at) == POD_DIGITS && !isalnum((unsigned char)at[POD_DIGITS])) {
		copy(out->pod_uid, at, POD_DIGITS);
		return true;
	}
	return false;
}

static void find_pod(const char *path, struct container *out)
{
	const char *at = path;

	while ((at = strstr(at, "pod"))) {
		at += strlen("pod");
		if (take_pod(at, out))
			return;
	}
}

void container_of_path(const char *path, struct container *out)
{
	if (!out->id[0])
		find_id(path, out);
	if (!out->pod_uid[0])
		find_pod(path, out);
}

void container_of_pid(pid_t pid, struct container *out)
{
	char *text;
	char *next;
	char *line;

	*out = (struct container){ 0 };
	if (proc_read_all(pid, "cgroup", CGROUP_FILE_MAX, &text))
		return;
	/* "4:memory:/path", and for version 2 "0::/path" */
	next = text;
	while ((line = strsep(&next, "\n"))) {
		line = strchr(line, ':');
		line = line ? strchr(line + 1, ':') : NULL;
		if (line)
			container_of_path(line + 1, out);
	}
	free(text);
}
