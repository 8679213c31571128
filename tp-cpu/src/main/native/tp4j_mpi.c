/*
 * JNI side of org.tp4j.mpi.MpiNative. libmpi is opened at run time, so that building does not need MPI.
 *
 * Two families of libraries are supported. In Open MPI, handles are pointers, and the predefined ones are symbols to look
 * up. In the MPICH ABI (MPICH, Intel MPI, MVAPICH, Cray MPI), handles are 32-bit integers and the predefined ones are
 * constants. Both are passed here as intptr_t: in the calling conventions of x86-64 and AArch64 an int argument is read
 * from the low half of the register, and handles written by a library end up in the low half of a zeroed word.
 *
 * Only bytes are ever sent, point-to-point: the collectives are built on them in Java and reduce in a fixed order.
 */
#include <dlfcn.h>
#include <jni.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "org_tp4j_mpi_MpiNative.h"

#define NATIVE_VERSION 1

#define MPI_SUCCESS 0
#define MPI_THREAD_MULTIPLE 3
#define MAX_ERROR_STRING 1024   /* Open MPI: 256, MPICH: 512 */
#define MAX_LIBRARY_VERSION 8192 /* MPICH's MPI_MAX_LIBRARY_VERSION_STRING, the longest */

/* Layout of one message in a plan; see MpiNative.java. */
struct message {
    int64_t receive; /* 1: receive, 0: send */
    int64_t peer;
    int64_t tag;
    int64_t address;
    int64_t bytes;
};

static struct {
    int is_mpich;
    intptr_t comm_world;
    intptr_t byte;
    intptr_t errors_return;
    int tag_ub_key;
    void *statuses_ignore;
    int (*init_thread)(int *, char ***, int, int *);
    int (*initialized)(int *);
    int (*finalized)(int *);
    int (*finalize)(void);
    int (*abort)(intptr_t, int);
    int (*comm_rank)(intptr_t, int *);
    int (*comm_size)(intptr_t, int *);
    int (*comm_split)(intptr_t, int, int, intptr_t *);
    int (*comm_free)(intptr_t *);
    int (*comm_get_attr)(intptr_t, int, void *, int *);
    int (*comm_set_errhandler)(intptr_t, intptr_t);
    int (*isend)(const void *, int, intptr_t, int, int, intptr_t, void *);
    int (*irecv)(void *, int, intptr_t, int, int, intptr_t, void *);
    int (*testall)(int, void *, int *, void *);
    int (*error_string)(int, char *, int *);
    int (*get_library_version)(char *, int *);
} mpi;

static void throw_message(JNIEnv *env, const char *message) {
    jclass type = (*env)->FindClass(env, "org/tp4j/comm/CommunicationException");
    if (type != NULL) {
        (*env)->ThrowNew(env, type, message);
    }
}

static void throw_code(JNIEnv *env, const char *function, int code) {
    char reason[MAX_ERROR_STRING + 1] = "";
    char message[MAX_ERROR_STRING + 128];
    int length = 0;
    if (mpi.error_string == NULL || mpi.error_string(code, reason, &length) != MPI_SUCCESS) {
        snprintf(reason, sizeof reason, "no description");
    }
    snprintf(message, sizeof message, "%s failed with code %d: %s", function, code, reason);
    throw_message(env, message);
}

/* Calls an MPI function; on an error, throws and returns `otherwise` (empty in a void function). */
#define CHECK(function, call, otherwise)           \
    do {                                           \
        int code_ = (call);                        \
        if (code_ != MPI_SUCCESS) {                \
            throw_code(env, "MPI_" function, code_); \
            return otherwise;                      \
        }                                          \
    } while (0)

JNIEXPORT jint JNICALL Java_org_tp4j_mpi_MpiNative_version(JNIEnv *env, jclass type) {
    return NATIVE_VERSION;
}

static const char *missing;

static void *function(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (found == NULL) {
        missing = name;
    }
    return found;
}

#define FIND(field, name) *(void **)&mpi.field = function(library, "MPI_" name)

JNIEXPORT jstring JNICALL Java_org_tp4j_mpi_MpiNative_open(JNIEnv *env, jclass type, jstring path) {
    const char *file = (*env)->GetStringUTFChars(env, path, NULL);
    if (file == NULL) {
        return NULL;
    }
    /*
     * The JVM uses SIGSEGV for null checks and safepoints. UCX, which MPI libraries may load, would treat the signal as a
     * crash, unless it is told before it is loaded not to handle signals.
     */
    setenv("UCX_ERROR_SIGNALS", "", 0);
    /* Global, because plug-ins of the MPI library look up its symbols. */
    void *library = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
    (*env)->ReleaseStringUTFChars(env, path, file);
    if (library == NULL) {
        const char *reason = dlerror();
        return (*env)->NewStringUTF(env, reason == NULL ? "dlopen failed" : reason);
    }
    missing = NULL;
    FIND(init_thread, "Init_thread");
    FIND(initialized, "Initialized");
    FIND(finalized, "Finalized");
    FIND(finalize, "Finalize");
    FIND(abort, "Abort");
    FIND(comm_rank, "Comm_rank");
    FIND(comm_size, "Comm_size");
    FIND(comm_split, "Comm_split");
    FIND(comm_free, "Comm_free");
    FIND(comm_get_attr, "Comm_get_attr");
    FIND(comm_set_errhandler, "Comm_set_errhandler");
    FIND(isend, "Isend");
    FIND(irecv, "Irecv");
    FIND(testall, "Testall");
    FIND(error_string, "Error_string");
    FIND(get_library_version, "Get_library_version");
    if (missing != NULL) {
        char text[128];
        snprintf(text, sizeof text, "it has no function %s, so it is not an MPI 3 library", missing);
        return (*env)->NewStringUTF(env, text);
    }
    void *world = dlsym(library, "ompi_mpi_comm_world");
    if (world != NULL) {
        mpi.is_mpich = 0;
        mpi.comm_world = (intptr_t)world;
        mpi.byte = (intptr_t)dlsym(library, "ompi_mpi_byte");
        mpi.errors_return = (intptr_t)dlsym(library, "ompi_mpi_errors_return");
        mpi.tag_ub_key = 0;
        mpi.statuses_ignore = (void *)0;
    } else {
        mpi.is_mpich = 1;
        mpi.comm_world = 0x44000000;
        mpi.byte = 0x4c00010d;
        mpi.errors_return = 0x54000001;
        mpi.tag_ub_key = 0x64400001;
        mpi.statuses_ignore = (void *)1;
    }
    return NULL;
}

JNIEXPORT jstring JNICALL Java_org_tp4j_mpi_MpiNative_libraryVersion(JNIEnv *env, jclass type) {
    char *text = calloc(1, MAX_LIBRARY_VERSION + 1);
    int length = 0;
    jstring result = NULL;
    if (text != NULL && mpi.get_library_version(text, &length) == MPI_SUCCESS) {
        result = (*env)->NewStringUTF(env, text);
    }
    free(text);
    return result;
}

JNIEXPORT jint JNICALL Java_org_tp4j_mpi_MpiNative_initialize(JNIEnv *env, jclass type) {
    int already = 0;
    int provided = MPI_THREAD_MULTIPLE;
    CHECK("Initialized", mpi.initialized(&already), -1);
    if (!already) {
        CHECK("Init_thread", mpi.init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided), -1);
    }
    CHECK("Comm_set_errhandler", mpi.comm_set_errhandler(mpi.comm_world, mpi.errors_return), -1);
    return provided;
}

JNIEXPORT void JNICALL Java_org_tp4j_mpi_MpiNative_finish(JNIEnv *env, jclass type) {
    int already = 0;
    CHECK("Finalized", mpi.finalized(&already), );
    if (!already) {
        CHECK("Finalize", mpi.finalize(), );
    }
}

JNIEXPORT void JNICALL Java_org_tp4j_mpi_MpiNative_abort(JNIEnv *env, jclass type, jint code) {
    mpi.abort(mpi.comm_world, code);
}

JNIEXPORT jlong JNICALL Java_org_tp4j_mpi_MpiNative_world(JNIEnv *env, jclass type) {
    return mpi.comm_world;
}

JNIEXPORT jint JNICALL Java_org_tp4j_mpi_MpiNative_rank(JNIEnv *env, jclass type, jlong comm) {
    int rank = -1;
    CHECK("Comm_rank", mpi.comm_rank((intptr_t)comm, &rank), -1);
    return rank;
}

JNIEXPORT jint JNICALL Java_org_tp4j_mpi_MpiNative_size(JNIEnv *env, jclass type, jlong comm) {
    int size = -1;
    CHECK("Comm_size", mpi.comm_size((intptr_t)comm, &size), -1);
    return size;
}

JNIEXPORT jlong JNICALL Java_org_tp4j_mpi_MpiNative_largestTag(JNIEnv *env, jclass type) {
    int *value = NULL;
    int found = 0;
    CHECK("Comm_get_attr", mpi.comm_get_attr(mpi.comm_world, mpi.tag_ub_key, &value, &found), -1);
    return found && value != NULL ? *value : 32767;
}

JNIEXPORT jlong JNICALL Java_org_tp4j_mpi_MpiNative_split(
        JNIEnv *env, jclass type, jlong comm, jint color, jint key) {
    intptr_t made = 0;
    CHECK("Comm_split", mpi.comm_split((intptr_t)comm, color, key, &made), 0);
    CHECK("Comm_set_errhandler", mpi.comm_set_errhandler(made, mpi.errors_return), 0);
    return made;
}

JNIEXPORT void JNICALL Java_org_tp4j_mpi_MpiNative_free(JNIEnv *env, jclass type, jlong comm) {
    intptr_t handle = (intptr_t)comm;
    CHECK("Comm_free", mpi.comm_free(&handle), );
}

JNIEXPORT jlong JNICALL Java_org_tp4j_mpi_MpiNative_address(JNIEnv *env, jclass type, jobject buffer) {
    return (jlong)(intptr_t)(*env)->GetDirectBufferAddress(env, buffer);
}

JNIEXPORT void JNICALL Java_org_tp4j_mpi_MpiNative_post(
        JNIEnv *env, jclass type, jlong comm, jlong plan, jint count, jlong requests) {
    const struct message *messages = (const struct message *)(intptr_t)plan;
    size_t width = mpi.is_mpich ? sizeof(int32_t) : sizeof(void *);
    for (int i = 0; i < count; i++) {
        const struct message *m = &messages[i];
        void *data = (void *)(intptr_t)m->address;
        void *request = (char *)(intptr_t)requests + i * width;
        if (m->receive) {
            CHECK("Irecv",
                  mpi.irecv(data, (int)m->bytes, mpi.byte, (int)m->peer, (int)m->tag, (intptr_t)comm, request), );
        } else {
            CHECK("Isend",
                  mpi.isend(data, (int)m->bytes, mpi.byte, (int)m->peer, (int)m->tag, (intptr_t)comm, request), );
        }
    }
}

JNIEXPORT jboolean JNICALL Java_org_tp4j_mpi_MpiNative_test(
        JNIEnv *env, jclass type, jlong requests, jint count) {
    int done = 0;
    CHECK("Testall", mpi.testall(count, (void *)(intptr_t)requests, &done, mpi.statuses_ignore), JNI_FALSE);
    return done ? JNI_TRUE : JNI_FALSE;
}
