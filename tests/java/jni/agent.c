/* SPDX-License-Identifier: Apache-2.0 */
#include <jvmti.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * A native agent: takes as many milliseconds to begin as its options say, is asked for each class
 * from then on, and changes none.
 */

static void JNICALL on_class(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader,
			     const char *name, jobject domain, jint size,
			     const unsigned char *bytes, jint *new_size, unsigned char **new_bytes)
{
	(void)jvmti, (void)env, (void)redefined, (void)loader, (void)name, (void)domain;
	(void)size, (void)bytes, (void)new_size, (void)new_bytes;
}

static jint begin(JavaVM *vm, const char *options)
{
	long ms = options ? strtol(options, NULL, 10) : 0;
	struct timespec wait = { ms / 1000, ms % 1000 * 1000000 };
	jvmtiEventCallbacks callbacks;
	jvmtiCapabilities wanted;
	jvmtiEnv *jvmti;

	if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2))
		return JNI_ERR;
	memset(&wanted, 0, sizeof(wanted));
	wanted.can_generate_all_class_hook_events = 1;
	memset(&callbacks, 0, sizeof(callbacks));
	callbacks.ClassFileLoadHook = on_class;
	if ((*jvmti)->AddCapabilities(jvmti, &wanted) ||
	    (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks)) ||
	    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE,
					       JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL))
		return JNI_ERR;
	nanosleep(&wait, NULL);
	return JNI_OK;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	(void)reserved;
	return begin(vm, options);
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	(void)reserved;
	return begin(vm, options);
}
