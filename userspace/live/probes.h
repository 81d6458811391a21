/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_PROBES_H
#define JVMSCOPE_PROBES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct bpf_link;
struct bpf_object;
struct bpf_program;
struct image;
struct mapping;
struct target;

/*
 * Uprobes on functions of one process: names to file offsets, to the instruction that costs least
 * (target/insn.h), to links.
 *
 * A group of probes shares its programs, told apart by the probe's id, which they get from
 * bpf_get_attach_cookie(). For a group "native" there are five, all declared with "?", which
 * do the same; a group that asks for no PROBE_CALL and no session has the two of entries:
 *
 *	SEC("?uprobe")	  jvs_native_entry	   single links
 *	SEC("?uretprobe") jvs_native_return
 *	SEC("?uprobe")	  jvs_native_entry_multi   kernel 6.6 and later
 *	SEC("?uretprobe") jvs_native_return_multi
 *	SEC("?uprobe")	  jvs_native_session	   both in one, for calls whose return is wanted;
 *						   1 at entry: it is not
 *
 * Where only single links exist each probe has its own, and detaching takes 0.1 s a link.
 */
enum probe_links {
	PROBE_SINGLE,
	PROBE_MULTI,
	PROBE_SESSION,
};

/* The best that the running kernel has. Tried, not taken from its version; never logs. */
enum probe_links probes_best(void);

/*
 * Before the object is loaded: which of the group's programs are loaded, and how. wanted: whether
 * any is. Returns 0 or -ENOENT, when the object has no program for an entry with such links.
 */
int probes_choose(struct bpf_object *object, const char *group, enum probe_links links,
		  bool wanted);

enum probe_where {
	PROBE_ENTRY,  /* when the function is called */
	PROBE_CALL,   /* also when it returns */
	PROBE_METHOD, /* the same; only its first two arguments are of use, those of JNI */
	PROBE_FIRST,  /* when it is called; only its first argument is of use */
	PROBE_ONCE,   /* when it is called, so seldom that it does not matter what a hit costs */
	PROBE_USDT,   /* each place of a USDT probe; its name is in the place of a symbol. The
			 register of its first argument is in the byte above the id's own */
	PROBE_BEHIND, /* of a site: see struct probe_behind */
};

struct probe {
	/*
	 * Mangled name. '@' stands for the type of the VM's memory tags, which differs from JDK to
	 * JDK: "_ZN2os6mallocEm@" is os::malloc(size_t, MemTag).
	 */
	const char *symbol;
	enum probe_where where;
	uint32_t id;
};

/*
 * Functions that return what another file's function gives them. Where target/insn_flow.h finds a
 * place behind each of their calls of it, probes at these places are enough. Their id has the
 * registers of the function's first and second argument in the two bytes above its own.
 */
struct probe_behind {
	uint32_t probe; /* id of the functions' probes, which have PROBE_CALL */
	const char *called;
	uint32_t id; /* of probes behind */
};

#define PROBES_MAX 64 /* of one call */

/* What to attach, and to what. Everything is borrowed. */
struct probe_request {
	const struct bpf_object *object;
	const char *group;
	enum probe_links links; /* as in probes_choose() */
	const struct target *target;
	struct image *image;	       /* of the file that is probed */
	const struct mapping *mapping; /* an executable one of it */
	const struct probe *probes;
	size_t count;
	struct probe_behind behind; /* zeroed: there is nothing like it */
};

/* One probe that was found. */
struct probe_site {
	uint32_t id;
	enum probe_where where;
	uint64_t file_offset;
	bool emulated; /* else a hit costs forty times as much */
};

/* The sites of one request, attached or not: a zeroed struct is a valid empty one. */
struct probe_set {
	struct probe_site sites[PROBES_MAX];
	size_t count;
	uint64_t found; /* bit n: probe n of the request has a site */
	int file;	/* owned; the probed file */
	enum probe_links links;
	pid_t pid;
	int multi[2];				     /* owned; -1: not attached */
	struct bpf_link *single[2 * PROBES_MAX];     /* owned */
	const struct bpf_program *entry, *at_return; /* borrowed */
	bool attached;
};

/* Lets a set that was made by hand have the programs of a group. */
void probes_borrow(struct probe_set *set, const struct bpf_object *object, const char *group,
		   enum probe_links links);

/*
 * Finds the sites and attaches nothing. Functions that the file does not have are left out; two
 * names of one function are one site.
 *
 * Returns 0, -ENOENT when it has none of them (its symbols are stripped), -EACCES or another
 * negative errno when the file cannot be opened. Logs only sites that are not emulated.
 */
int probes_find(const struct probe_request *request, struct probe_set *out);

/* Attaches all sites, or none. Returns 0 or a negative errno, logged unless -ESRCH. */
int probes_attach(struct probe_set *set);

/* From its return on no program of the set begins. Sites stay, to be attached again. */
void probes_detach(struct probe_set *set);

/* Attaches or detaches a set that has sites, when it is not so already. */
void probes_want(struct probe_set *set, bool attached);

/*
 * Links are closed by threads of their own, so that nobody waits: multi links are gone some 40 ms
 * after the return, and the process does not end before; each single one takes longer.
 */
void probes_free(struct probe_set *set);

/*
 * Links of all targets that are given up at the end, all at the same time: the kernel makes each
 * wait until nobody runs what it held, and many wait as long as one. A zeroed struct is empty.
 */
#define PROBES_LEAVING_THREADS 64

struct probes_leaving {
	int *links; /* owned; descriptors of multi links */
	size_t count;
	size_t capacity;
	size_t next; /* the first that no thread has taken */
	pthread_t threads[PROBES_LEAVING_THREADS];
	size_t thread_count;
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t end_ns;   /* when the last one so far was gone */
};

/*
 * Moves a set's links there and frees the set. One with single links is left as it is: they take
 * seconds, and are closed when the report is written.
 */
void probes_leave(struct probe_set *set, struct probes_leaving *leaving);

/* Begins to close the links that were moved there. Once. */
void probes_close(struct probes_leaving *leaving);

/* Waits until all links are gone: then no probe costs anything any more. */
void probes_wait(struct probes_leaving *leaving);

/* What a hit costs on this machine beside its program, nanoseconds: tried on a function of ours. */
double probes_trap_ns(const struct bpf_object *object, const char *group, enum probe_links links);

#endif
