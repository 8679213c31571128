/*
 * JNI side of org.tp4j.nccl.NcclNative. libnccl is opened at run time, so that building does not need NCCL.
 *
 * Functions return NCCL's result code, or NOT_THERE if this library lacks the function (older releases have fewer). A
 * communicator is passed as the address of a cell that holds the library's handle: in non-blocking and grouped calls the
 * library writes the handle later, so the memory must not move.
 *
 * Declarations follow NVIDIA's documentation of NCCL 2; the layout of ncclConfig_t is that of 2.18, which newer
 * libraries recognize by its size and version.
 */
#include <dlfcn.h>
#include <jni.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "org_tp4j_nccl_NcclNative.h"

#define NATIVE_VERSION 1
#define NOT_THERE (-1)
#define UNIQUE_ID_BYTES 128
#define API_MAGIC 0xcafebeefU
#define CONFIG_VERSION 21803 /* 2.18.3 */

typedef void *comm_t;
typedef void *stream_t;

typedef struct {
    char internal[UNIQUE_ID_BYTES];
} unique_id;

typedef struct {
    size_t size;
    unsigned int magic;
    unsigned int version;
    int blocking;
    int cgaClusterSize;
    int minCTAs;
    int maxCTAs;
    const char *netName;
    int splitShare;
} config;

/* Every function: result type, name, parameters. */
#define FUNCTIONS(F)                                                                            \
    F(int, ncclGetVersion, (int *))                                                             \
    F(int, ncclGetUniqueId, (unique_id *))                                                      \
    F(int, ncclCommInitRank, (comm_t *, int, unique_id, int))                                   \
    F(int, ncclCommInitRankConfig, (comm_t *, int, unique_id, int, config *))                   \
    F(int, ncclCommSplit, (comm_t, int, int, comm_t *, config *))                               \
    F(int, ncclCommFinalize, (comm_t))                                                          \
    F(int, ncclCommDestroy, (comm_t))                                                           \
    F(int, ncclCommAbort, (comm_t))                                                             \
    F(int, ncclCommGetAsyncError, (comm_t, int *))                                              \
    F(int, ncclCommCount, (comm_t, int *))                                                      \
    F(int, ncclCommUserRank, (comm_t, int *))                                                   \
    F(int, ncclCommCuDevice, (comm_t, int *))                                                   \
    F(const char *, ncclGetErrorString, (int))                                                  \
    F(const char *, ncclGetLastError, (comm_t))                                                 \
    F(int, ncclAllReduce, (const void *, void *, size_t, int, int, comm_t, stream_t))           \
    F(int, ncclAllGather, (const void *, void *, size_t, int, comm_t, stream_t))                \
    F(int, ncclReduceScatter, (const void *, void *, size_t, int, int, comm_t, stream_t))       \
    F(int, ncclBroadcast, (const void *, void *, size_t, int, int, comm_t, stream_t))           \
    F(int, ncclReduce, (const void *, void *, size_t, int, int, int, comm_t, stream_t))         \
    F(int, ncclAlltoAll, (const void *, void *, size_t, int, comm_t, stream_t))                 \
    F(int, ncclSend, (const void *, size_t, int, int, comm_t, stream_t))                        \
    F(int, ncclRecv, (void *, size_t, int, int, comm_t, stream_t))                              \
    F(int, ncclGroupStart, (void))                                                              \
    F(int, ncclGroupEnd, (void))

static struct {
#define FIELD(type, name, parameters) type(*name) parameters;
    FUNCTIONS(FIELD)
#undef FIELD
} nccl;

#define NATIVE(type, name) JNIEXPORT type JNICALL Java_org_tp4j_nccl_NcclNative_##name
#define ADDRESS(value) ((void *)(intptr_t)(value))
#define COMM(cell) (*(comm_t *)ADDRESS(cell))

/* Calls a function of the library if it exists. */
#define CALL(name, ...) (nccl.name == NULL ? NOT_THERE : nccl.name(__VA_ARGS__))

NATIVE(jint, version)(JNIEnv *env, jclass type) {
    return NATIVE_VERSION;
}

NATIVE(jstring, open)(JNIEnv *env, jclass type, jstring path) {
    const char *file = (*env)->GetStringUTFChars(env, path, NULL);
    if (file == NULL) {
        return NULL; /* an exception is pending */
    }
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    (*env)->ReleaseStringUTFChars(env, path, file);
    if (library == NULL) {
        const char *reason = dlerror();
        return (*env)->NewStringUTF(env, reason == NULL ? "dlopen failed" : reason);
    }
    if (dlsym(library, "ncclGetVersion") == NULL || dlsym(library, "ncclCommInitRank") == NULL) {
        dlclose(library);
        return (*env)->NewStringUTF(env, "it has no functions ncclGetVersion and ncclCommInitRank, so it is not NCCL");
    }
#define FIND(result, name, parameters) *(void **)&nccl.name = dlsym(library, #name);
    FUNCTIONS(FIND)
#undef FIND
    return NULL;
}

NATIVE(jboolean, has)(JNIEnv *env, jclass type, jstring name) {
    const char *wanted = (*env)->GetStringUTFChars(env, name, NULL);
    jboolean found = JNI_FALSE;
    if (wanted == NULL) {
        return JNI_FALSE;
    }
#define COMPARE(result, function, parameters)                            \
    if (strcmp(wanted, #function) == 0 && nccl.function != NULL) {       \
        found = JNI_TRUE;                                                \
    }
    FUNCTIONS(COMPARE)
#undef COMPARE
    (*env)->ReleaseStringUTFChars(env, name, wanted);
    return found;
}

/* Allocates a cell for a handle, initially NULL; returns 0 if out of memory. */
NATIVE(jlong, newCell)(JNIEnv *env, jclass type) {
    return (jlong)(intptr_t)calloc(1, sizeof(comm_t));
}

NATIVE(void, freeCell)(JNIEnv *env, jclass type, jlong cell) {
    free(ADDRESS(cell));
}

NATIVE(jlong, handle)(JNIEnv *env, jclass type, jlong cell) {
    return (jlong)(intptr_t)COMM(cell);
}

static jint put(JNIEnv *env, jintArray out, int code, int value) {
    if (code == 0) {
        jint element = value;
        (*env)->SetIntArrayRegion(env, out, 0, 1, &element);
    }
    return code;
}

NATIVE(jint, getVersion)(JNIEnv *env, jclass type, jintArray out) {
    int version = 0;
    int code = CALL(ncclGetVersion, &version);
    return put(env, out, code, version);
}

NATIVE(jint, getUniqueId)(JNIEnv *env, jclass type, jbyteArray out) {
    unique_id id;
    memset(&id, 0, sizeof id);
    int code = CALL(ncclGetUniqueId, &id);
    if (code == 0) {
        (*env)->SetByteArrayRegion(env, out, 0, UNIQUE_ID_BYTES, (const jbyte *)id.internal);
    }
    return code;
}

NATIVE(jint, commInitRank)(JNIEnv *env, jclass type, jlong cell, jint ranks, jbyteArray id, jint rank) {
    unique_id copy;
    (*env)->GetByteArrayRegion(env, id, 0, UNIQUE_ID_BYTES, (jbyte *)copy.internal);
    if ((*env)->ExceptionCheck(env)) {
        return 0;
    }
    return CALL(ncclCommInitRank, (comm_t *)ADDRESS(cell), ranks, copy, rank);
}

/* Fields that are not set are Integer.MIN_VALUE, which is NCCL_CONFIG_UNDEF_INT. */
static config make_config(JNIEnv *env, jintArray fields, const char *net_name) {
    jint values[5] = {INT_MIN, INT_MIN, INT_MIN, INT_MIN, INT_MIN};
    (*env)->GetIntArrayRegion(env, fields, 0, 5, values);
    config made = {
        .size = sizeof(config),
        .magic = API_MAGIC,
        .version = CONFIG_VERSION,
        .blocking = values[0],
        .cgaClusterSize = values[1],
        .minCTAs = values[2],
        .maxCTAs = values[3],
        .netName = net_name,
        .splitShare = values[4],
    };
    return made;
}

NATIVE(jint, commInitRankConfig)(JNIEnv *env, jclass type, jlong cell, jint ranks, jbyteArray id, jint rank,
        jintArray fields, jstring net_name) {
    unique_id copy;
    (*env)->GetByteArrayRegion(env, id, 0, UNIQUE_ID_BYTES, (jbyte *)copy.internal);
    const char *net = net_name == NULL ? NULL : (*env)->GetStringUTFChars(env, net_name, NULL);
    config settings = make_config(env, fields, net);
    int code = 0;
    if (!(*env)->ExceptionCheck(env)) {
        code = CALL(ncclCommInitRankConfig, (comm_t *)ADDRESS(cell), ranks, copy, rank, &settings);
    }
    if (net != NULL) {
        (*env)->ReleaseStringUTFChars(env, net_name, net);
    }
    return code;
}

/* If fields is NULL, the new communicator inherits the settings. */
NATIVE(jint, commSplit)(JNIEnv *env, jclass type, jlong cell, jint color, jint key, jlong new_cell, jintArray fields,
        jstring net_name) {
    if (fields == NULL) {
        return CALL(ncclCommSplit, COMM(cell), color, key, (comm_t *)ADDRESS(new_cell), NULL);
    }
    const char *net = net_name == NULL ? NULL : (*env)->GetStringUTFChars(env, net_name, NULL);
    config settings = make_config(env, fields, net);
    int code = 0;
    if (!(*env)->ExceptionCheck(env)) {
        code = CALL(ncclCommSplit, COMM(cell), color, key, (comm_t *)ADDRESS(new_cell), &settings);
    }
    if (net != NULL) {
        (*env)->ReleaseStringUTFChars(env, net_name, net);
    }
    return code;
}

NATIVE(jint, commFinalize)(JNIEnv *env, jclass type, jlong cell) {
    return CALL(ncclCommFinalize, COMM(cell));
}

NATIVE(jint, commDestroy)(JNIEnv *env, jclass type, jlong cell) {
    return CALL(ncclCommDestroy, COMM(cell));
}

NATIVE(jint, commAbort)(JNIEnv *env, jclass type, jlong cell) {
    return CALL(ncclCommAbort, COMM(cell));
}

NATIVE(jint, commGetAsyncError)(JNIEnv *env, jclass type, jlong cell, jintArray out) {
    int state = 0;
    int code = CALL(ncclCommGetAsyncError, COMM(cell), &state);
    return put(env, out, code, state);
}

NATIVE(jint, commCount)(JNIEnv *env, jclass type, jlong cell, jintArray out) {
    int value = 0;
    int code = CALL(ncclCommCount, COMM(cell), &value);
    return put(env, out, code, value);
}

NATIVE(jint, commUserRank)(JNIEnv *env, jclass type, jlong cell, jintArray out) {
    int value = 0;
    int code = CALL(ncclCommUserRank, COMM(cell), &value);
    return put(env, out, code, value);
}

NATIVE(jint, commCuDevice)(JNIEnv *env, jclass type, jlong cell, jintArray out) {
    int value = 0;
    int code = CALL(ncclCommCuDevice, COMM(cell), &value);
    return put(env, out, code, value);
}

/* Messages are ASCII in every release; other bytes, such as in a file name, are replaced. */
static jstring text(JNIEnv *env, const char *message) {
    char clean[1024];
    size_t length = 0;
    if (message == NULL) {
        return NULL;
    }
    for (; message[length] != '\0' && length < sizeof clean - 1; length++) {
        unsigned char c = (unsigned char)message[length];
        clean[length] = (c >= ' ' && c < 127) || c == '\n' ? (char)c : '?';
    }
    clean[length] = '\0';
    return (*env)->NewStringUTF(env, clean);
}

NATIVE(jstring, getErrorString)(JNIEnv *env, jclass type, jint code) {
    return text(env, nccl.ncclGetErrorString == NULL ? NULL : nccl.ncclGetErrorString(code));
}

NATIVE(jstring, getLastError)(JNIEnv *env, jclass type, jlong cell) {
    comm_t comm = cell == 0 ? NULL : COMM(cell);
    return text(env, nccl.ncclGetLastError == NULL ? NULL : nccl.ncclGetLastError(comm));
}

NATIVE(jint, allReduce)(JNIEnv *env, jclass type, jlong send, jlong receive, jlong count, jint data_type, jint op,
        jlong cell, jlong stream) {
    return CALL(ncclAllReduce, ADDRESS(send), ADDRESS(receive), (size_t)count, data_type, op, COMM(cell), ADDRESS(stream));
}

NATIVE(jint, allGather)(JNIEnv *env, jclass type, jlong send, jlong receive, jlong count, jint data_type, jlong cell,
        jlong stream) {
    return CALL(ncclAllGather, ADDRESS(send), ADDRESS(receive), (size_t)count, data_type, COMM(cell), ADDRESS(stream));
}

NATIVE(jint, reduceScatter)(JNIEnv *env, jclass type, jlong send, jlong receive, jlong count, jint data_type, jint op,
        jlong cell, jlong stream) {
    return CALL(
            ncclReduceScatter, ADDRESS(send), ADDRESS(receive), (size_t)count, data_type, op, COMM(cell), ADDRESS(stream));
}

NATIVE(jint, broadcast)(JNIEnv *env, jclass type, jlong send, jlong receive, jlong count, jint data_type, jint root,
        jlong cell, jlong stream) {
    return CALL(ncclBroadcast, ADDRESS(send), ADDRESS(receive), (size_t)count, data_type, root, COMM(cell), ADDRESS(stream));
}

NATIVE(jint, reduce)(JNIEnv *env, jclass type, jlong send, jlong receive, jlong count, jint data_type, jint op,
        jint root, jlong cell, jlong stream) {
    return CALL(
            ncclReduce, ADDRESS(send), ADDRESS(receive), (size_t)count, data_type, op, root, COMM(cell), ADDRESS(stream));
}

NATIVE(jint, alltoAll)(JNIEnv *env, jclass type, jlong send, jlong receive, jlong count, jint data_type, jlong cell,
        jlong stream) {
    return CALL(ncclAlltoAll, ADDRESS(send), ADDRESS(receive), (size_t)count, data_type, COMM(cell), ADDRESS(stream));
}

NATIVE(jint, send)(JNIEnv *env, jclass type, jlong address, jlong count, jint data_type, jint peer, jlong cell,
        jlong stream) {
    return CALL(ncclSend, ADDRESS(address), (size_t)count, data_type, peer, COMM(cell), ADDRESS(stream));
}

NATIVE(jint, recv)(JNIEnv *env, jclass type, jlong address, jlong count, jint data_type, jint peer, jlong cell,
        jlong stream) {
    return CALL(ncclRecv, ADDRESS(address), (size_t)count, data_type, peer, COMM(cell), ADDRESS(stream));
}

NATIVE(jint, groupStart)(JNIEnv *env, jclass type) {
    return CALL(ncclGroupStart);
}

NATIVE(jint, groupEnd)(JNIEnv *env, jclass type) {
    return CALL(ncclGroupEnd);
}
